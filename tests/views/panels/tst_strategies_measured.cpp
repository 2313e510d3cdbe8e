// SPDX-License-Identifier: GPL-3.0-or-later
// Strategies of a plan that brings measured stage times: every switch that applies shows its effect and why, the others
// say that what was measured fixes them.
#include "core/facts/plan/plan_io.h"
#include "strategy_fixture.h"
#include "tests/support/test_program.h"
#include "views/panels/strategy_entries.h"
#include "views/theme/theme.h"

#include <QSignalSpy>

using namespace trainyard;

class StrategiesMeasuredTest : public QObject, private StrategyFixture {
    Q_OBJECT
private:
    static EffectTablePtr effectsOf(const PlanPtr &plan)
    {
        StrategyEffects effects(builtinCatalogue());
        QSignalSpy spy(&effects, &StrategyEffects::effectsChanged);
        effects.setRest(std::chrono::milliseconds(0));
        effects.setPlan(plan);
        const auto last = [&spy] { return spy.isEmpty() ? nullptr : spy.last().at(0).value<EffectTablePtr>(); };
        const bool isComplete = QTest::qWaitFor([&last] { return last() && last()->complete; }, 30000);
        return isComplete ? last() : nullptr;
    }

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }
    void cleanup() { stop(); }

    void everySwitchShowsAnEffectOrThatItIsMeasured()
    {
        const auto sample = readPlan(TRAINYARD_SOURCE_DIR "/samples/atlas-headline.trainyard.json");
        QVERIFY(sample && sample->profile);
        start(*sample);
        const EffectTablePtr effects = effectsOf(m_document->plan());
        QVERIFY(effects);
        m_panel->setEffects(effects);
        int shown = 0, measured = 0;
        for (const StrategyRow *row : m_panel->findChildren<StrategyRow *>()) {
            bool canChange = false, isMeasured = false;
            for (const Alternative &a : row->alternatives()) {
                canChange = canChange || (!a.isCurrent && a.plan);
                isMeasured = isMeasured || a.blockedBecause.starts_with(kMeasured);
            }
            const QString text = row->effectLine()->text();
            if (canChange) {
                QVERIFY2(!text.isEmpty(), qPrintable(row->group()));
                ++shown;
            } else if (isMeasured) {
                QCOMPARE(text, QStringLiteral("measured"));
                QVERIFY2(row->effectLine()->toolTip().contains("fixed."), qPrintable(row->effectLine()->toolTip()));
                ++measured;
            }
        }
        QVERIFY2(shown >= 6 && measured >= 6, qPrintable(QString::number(shown) + ", " + QString::number(measured)));
    }

    /// Spatial sharing makes the sample slower by what its transfers then wait longer.
    void theEffectOfASwitchSaysWhy()
    {
        const auto sample = readPlan(TRAINYARD_SOURCE_DIR "/samples/atlas-headline.trainyard.json");
        QVERIFY(sample);
        start(*sample);
        const EffectTablePtr effects = effectsOf(m_document->plan());
        QVERIFY(effects);
        const Effect &spatial = effects->strategies.at("sharing=spatial");
        QVERIFY(spatial.change && *spatial.change > 0.01);
        QVERIFY2(!spatial.because.empty(), spatial.because.c_str());
        m_panel->setEffects(effects);
        const QString tip = m_panel->row("sharing")->effectLine()->toolTip();
        QVERIFY2(tip.contains(QStringLiteral("Because: ") + QString::fromStdString(spatial.because)), qPrintable(tip));
    }
};

TRAINYARD_TEST(StrategiesMeasuredTest)
#include "tst_strategies_measured.moc"
