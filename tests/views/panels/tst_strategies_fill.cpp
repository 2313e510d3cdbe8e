// SPDX-License-Identifier: GPL-3.0-or-later
// Prefill in bubbles, switched on in the strategy panel: how many requests it begins with, and what more is offered.
#include "strategy_fixture.h"
#include "tests/support/test_program.h"
#include "tests/support/told.h"
#include "views/panels/effect_columns.h"
#include "views/theme/switch_button.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

using namespace trainyard;

class StrategiesFillTest : public QObject, protected StrategyFixture {
    Q_OBJECT

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Light); }
    void init() { start(handmade::plan()); }
    void cleanup() { stop(); }

    /// Bubbles that take 310 a second: 80 % of it is 248, in two digits 240.
    void roomInBubblesIsOfferedUnderTheSwitch()
    {
        Plan filling = handmade::plan();
        filling.bubbleFill.enabled = true;
        filling.bubbleFill.requestsPerSecond = 10;
        start(filling);
        QPushButton *offer = nullptr;
        for (QPushButton *button : m_panel->findChildren<QPushButton *>())
            if (button->parentWidget() == m_panel->row("bubble_fill")->parentWidget())
                offer = button;
        QVERIFY(offer && !offer->isVisibleTo(m_panel.get())); // not evaluated yet
        const auto evaluated = [&] {
            Evaluation e = handmade::evaluation();
            e.plan = m_document->plan();
            BubbleFillMetrics fill;
            fill.accepted = 40;
            fill.saturationRequestsPerSecond = 310;
            e.metrics.bubbleFill = fill;
            m_panel->setShown(test::told(m_document->plan(), handmade::shared(e)));
        };
        evaluated();
        QVERIFY(offer->isVisibleTo(m_panel.get()));
        QCOMPARE(offer->text(), QStringLiteral("Room for 310 requests/s: offer 240"));
        QTest::mouseClick(offer, Qt::LeftButton);
        QCOMPARE(plan().bubbleFill.requestsPerSecond, 240.0);
        evaluated();
        QVERIFY(!offer->isVisibleTo(m_panel.get())); // it is taken
        m_document->undoStack().undo();
        QCOMPARE(plan().bubbleFill.requestsPerSecond, 10.0);
    }

    /// What the effect is of is what a click writes; without an effect, the alternative's own plan.
    void switchingPrefillOnWritesTheRateThatTheEffectIsOf()
    {
        auto table = std::make_shared<EffectTable>();
        table->plan = m_document->plan();
        table->iterationTime = 10;
        table->utilization = 0.45;
        Plan offered = plan();
        offered.bubbleFill.enabled = true;
        offered.bubbleFill.model = "llama-3-8b";
        offered.bubbleFill.requestsPerSecond = 240;
        Effect on;
        on.iterationTime = 10;
        on.change = 0;
        on.utilization = 0.92;
        on.room = 310;
        on.offered = handmade::shared(offered);
        table->strategies = { { "bubble_fill=true", on } };
        m_panel->setEffects(table);
        QVERIFY(m_panel->row("bubble_fill")
                    ->effectLine()
                    ->toolTip()
                    .contains("Room for 310 requests/s; it begins with 240."));
        QTest::mouseClick(m_panel->row("bubble_fill")->toggle(), Qt::LeftButton);
        QCOMPARE(plan(), offered);
    }

    /// The pointer rests on the switch before the effect is known: the plan that is shown is the one that a click
    /// writes.
    void whatIsTriedIsWhatAClickWrites()
    {
        QSignalSpy previewed(m_panel.get(), &StrategyPanel::editPreviewed);
        SwitchButton *toggle = m_panel->row("bubble_fill")->toggle();
        QEnterEvent enter(
            toggle->rect().center(), toggle->rect().center(), toggle->mapToGlobal(toggle->rect().center()));
        QApplication::sendEvent(toggle, &enter);
        QVERIFY(!previewed.isEmpty());
        const Plan tried = *previewed.last().at(0).value<PlanPtr>();
        auto table = std::make_shared<EffectTable>();
        table->plan = m_document->plan();
        table->iterationTime = 10;
        Plan offered = tried;
        offered.bubbleFill.requestsPerSecond = 240;
        Effect on;
        on.iterationTime = 10;
        on.offered = handmade::shared(offered);
        table->strategies = { { "bubble_fill=true", on } };
        m_panel->setEffects(table);
        QTest::mouseClick(toggle, Qt::LeftButton);
        QCOMPARE(plan(), tried);
    }
};

TRAINYARD_TEST(StrategiesFillTest)
#include "tst_strategies_fill.moc"
