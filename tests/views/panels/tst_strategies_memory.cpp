// SPDX-License-Identifier: GPL-3.0-or-later
// The section "Memory" of the strategy panel with the hands of a user: what is there, what appears with a switch, what
// it makes of the plan, and the words under activation offload.
#include "strategy_fixture.h"
#include "tests/support/test_program.h"
#include "tests/support/told.h"
#include "views/panels/effect_text.h"
#include "views/panels/offload_text.h"
#include "views/parts/text_line.h"
#include "views/theme/switch_button.h"
#include "views/theme/theme.h"

#include <QDoubleSpinBox>
#include <QSignalSpy>
#include <QTest>

using namespace trainyard;

namespace {

Plan withDrives()
{
    Plan plan = handmade::plan();
    for (Datacenter &site : plan.cluster.datacenters)
        for (Pool &pool : site.pools)
            pool.ssd = Ssd { .writeGBps = 20, .readGBps = 26, .endurancePb = 2.4, .usd = 1440 };
    return plan;
}

Metrics offloading()
{
    Metrics metrics;
    metrics.offload = handmade::offload();
    return metrics;
}

} // namespace

class StrategiesMemoryTest : public QObject, protected StrategyFixture {
    Q_OBJECT
    [[nodiscard]] TextLine *words() const
    {
        for (TextLine *line : m_panel->findChildren<TextLine *>())
            if (line->objectName() == QLatin1String("offloadFacts"))
                return line;
        return nullptr;
    }

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }
    void init() { start(withDrives()); }
    void cleanup() { stop(); }

    void shareAndChoiceAppearWithOffload()
    {
        QVERIFY(shows("activation_offload"));
        QVERIFY(!shows("offload_fraction") && !shows("offload_policy"));
        choose("activation_offload", QStringLiteral("drives"));
        QCOMPARE(plan().memory.activationOffload, ActivationOffload::Ssd);
        QCOMPARE(m_document->undoStack().undoText(), QStringLiteral("Activation offload off → drives"));
        QVERIFY(shows("offload_fraction") && shows("offload_policy"));
        choose("offload_fraction", QStringLiteral("75"));
        QCOMPARE(plan().memory.offloadFraction, std::optional(0.75));
        m_document->undoStack().undo();
        m_document->undoStack().undo();
        QCOMPARE(plan(), withDrives());
        QVERIFY(!shows("offload_fraction"));
    }

    void aPolicyIsChosenBesideTheSwitch()
    {
        choose("activation_offload", QStringLiteral("drives"));
        choose("offload_policy", QStringLiteral("KARMA"));
        QCOMPARE(plan().memory.offloadPolicy, OffloadPolicy::Karma);
        QVERIFY(shows("offload_policy") && !shows("offload_fraction")); // it goes by the room
        choose("offload_policy", QStringLiteral("ProTrain"));
        QCOMPARE(plan().memory.offloadPolicy, OffloadPolicy::ProTrain);
        QCOMPARE(m_document->undoStack().undoText(), QStringLiteral("What is offloaded KARMA → ProTrain"));
        choose("offload_policy", QStringLiteral("MEMO"));
        QCOMPARE(plan().memory.offloadPolicy, OffloadPolicy::Memo);
        QVERIFY(shows("offload_fraction"));
        m_document->undoStack().undo();
        QCOMPARE(plan().memory.offloadPolicy, OffloadPolicy::ProTrain);
    }

    void theRowOfThePolicyShowsItsEffect()
    {
        choose("activation_offload", QStringLiteral("drives"));
        auto effects = std::make_shared<EffectTable>();
        effects->plan = m_document->plan();
        effects->iterationTime = 10;
        effects->memoryBytes = 60e9;
        Effect karma;
        karma.iterationTime = 11;
        karma.change = 0.1;
        karma.memoryBytes = 30e9;
        karma.capacityBytes = 80e9;
        effects->strategies["offload_policy=karma"] = karma;
        m_panel->setEffects(effects);
        QCOMPARE(m_panel->row("offload_policy")->effectLine()->text(), QStringLiteral("KARMA +10.0 % −30.0 GB"));
    }

    void aPolicySaysWhatItMakesOfTheLayers()
    {
        Metrics metrics = offloading();
        metrics.offload->layersKept = 3;
        metrics.offload->layersSwapped = 4;
        metrics.offload->layersRecomputed = 9;
        metrics.offload->recompute = 0.075;
        QVERIFY(offloadFacts(metrics).join(u' ').contains(
            "3 layers kept, 4 swapped, 9 recomputed; recompute takes 75.0 ms per iteration"));
        QCOMPARE(offloadLines(metrics).size(), offloadLines(offloading()).size() + 2);
        metrics.offload->tokenShare = 0.278;
        QVERIFY(offloadFacts(metrics).join(u' ').contains("27.8 % of the tokens offloaded in 4 layers"));
        metrics.offload->bytesPerGpu = 0; // all of it is recomputed
        metrics.offload->tokenShare.reset();
        const QString text = offloadFacts(metrics).join(u' ');
        QVERIFY(text.contains("No activation leaves") && text.contains("recomputed") && text.contains("lower"));
    }

    void withoutDrivesTheListSaysWhere()
    {
        start(handmade::plan());
        EffectCombo *list = m_panel->row("activation_offload")->list();
        const int drives = list->findText(QStringLiteral("drives"), Qt::MatchStartsWith);
        QVERIFY(!(list->model()->index(drives, 0).flags() & Qt::ItemIsEnabled));
    }

    void offloadThatIsOnSaysWhatItComesTo()
    {
        choose("activation_offload", QStringLiteral("drives"));
        QVERIFY(!words()->isVisibleTo(m_panel.get())); // not evaluated yet
        Evaluation evaluation = handmade::evaluation();
        evaluation.plan = m_document->plan();
        evaluation.metrics.offload = offloading().offload;
        m_panel->setShown(test::told(m_document->plan(), handmade::shared(evaluation)));
        QVERIFY(words()->isVisibleTo(m_panel.get()));
        for (const char *what : { "24.0 GB leave", "12 GB/s", "40.0 % lower", "waits 250 ms", "3.2 years", "$360" })
            QVERIFY2(words()->text().contains(QString::fromUtf8(what)), qPrintable(words()->text()));
        choose("activation_offload", QStringLiteral("off"));
        QVERIFY(!words()->isVisibleTo(m_panel.get()));
    }

    void wordsLeaveOutWhatIsNotKnown()
    {
        Metrics metrics = offloading();
        metrics.offload->ssdLifetimeYears.reset();
        metrics.offload->ssdUsdPerGpu.reset();
        metrics.offload->stall = 0;
        const QString text = offloadFacts(metrics).join(u' ');
        QVERIFY(!text.contains("years") && !text.contains(u'$'));
        QVERIFY(text.contains("does not wait"));
        QVERIFY(offloadFacts(Metrics()).isEmpty());
        QVERIFY(offloadLines(Metrics()).empty());
        QCOMPARE(offloadLines(offloading()).size(), offloadLines(metrics).size() + 2);
    }

    void yearsReadAsPeopleSayThem()
    {
        QCOMPARE(formatYears(3.24), QStringLiteral("3.2 years"));
        QCOMPARE(formatYears(26.4), QStringLiteral("26 years"));
        QCOMPARE(formatYears(2e5), QStringLiteral("over 100 years"));
        QCOMPARE(formatYears(0.5), QStringLiteral("6.0 months"));
        QCOMPARE(formatYears(0.02), QStringLiteral("7.3 days"));
    }

    void anEffectOnMemoryNamesWhatItFreesAndWhatItCosts()
    {
        EffectTable now;
        now.memoryBytes = 60e9;
        Effect effect;
        effect.iterationTime = 10.4;
        effect.change = 0.04;
        effect.memoryBytes = 48e9;
        effect.capacityBytes = 80e9;
        const auto words = [&] { return effectText(effect, now, EffectFocus::Memory); };
        QCOMPARE(words().text, QStringLiteral("+4.0 % −12.0 GB"));
        QCOMPARE(words().brief, QStringLiteral("+4 % −12 GB"));
        QCOMPARE(words().ink, Ink::Muted); // better in one, worse in the other
        effect.change = -0.2;
        QCOMPARE(words().text, QStringLiteral("−20.0 % −12.0 GB"));
        QCOMPARE(words().ink, Ink::Good);
        effect.change = 0;
        QCOMPARE(words().text, QStringLiteral("±0 −12.0 GB"));
        QCOMPARE(words().ink, Ink::Good);
        now.memoryBytes = 40e9;
        QCOMPARE(words().text, QStringLiteral("±0 +8.00 GB"));
        QCOMPARE(words().ink, Ink::Bad);
        effect.fits = effect.feasible = false;
        QVERIFY(words().text.contains("does not fit"));
        QCOMPARE(words().ink, Ink::Bad);
        now.fits = false;
        QCOMPARE(words().text, QStringLiteral("±0 +8.00 GB ✕"));
        QCOMPARE(words().ink, Ink::Muted);
    }

    /// Worse on both counts stands only where nothing is better on one.
    void aValueThatIsBetterInOneCountComesFirst()
    {
        auto effects = std::make_shared<EffectTable>();
        effects->plan = m_document->plan();
        effects->iterationTime = 10;
        effects->memoryBytes = 60e9;
        const auto add = [&](const char *id, double change, double bytes) {
            Effect effect;
            effect.iterationTime = 10 * (1 + change);
            effect.change = change;
            effect.memoryBytes = bytes;
            effect.capacityBytes = 80e9;
            effects->strategies[id] = effect;
        };
        add("optimizer_offload=interleaved", 0.008, 60.6e9);
        m_panel->setEffects(std::make_shared<EffectTable>(*effects));
        QCOMPARE(m_panel->row("optimizer_offload")->effectLine()->text(),
            QStringLiteral("host, interleaved +0.8 % +600 MB"));
        QCOMPARE(m_panel->row("optimizer_offload")->effectLine()->ink(), Ink::Bad);
        add("optimizer_offload=host", 0.3, 40e9);
        m_panel->setEffects(effects);
        QCOMPARE(
            m_panel->row("optimizer_offload")->effectLine()->text(), QStringLiteral("host memory +30.0 % −20.0 GB"));
        QCOMPARE(m_panel->row("optimizer_offload")->effectLine()->ink(), Ink::Muted);
    }

    void drivesThatAreOfNoUseAnyMoreLoseTheirEffect()
    {
        auto effects = std::make_shared<EffectTable>();
        effects->plan = m_document->plan();
        effects->iterationTime = 10;
        Effect drives;
        drives.iterationTime = 9;
        drives.change = -0.1;
        effects->strategies["activation_offload=ssd"] = drives;
        m_panel->setEffects(effects);
        EffectCombo *list = m_panel->row("activation_offload")->list();
        QCOMPARE(list->effect(list->findText("drives")).text, QStringLiteral("−10.0 %"));
        Plan slow = plan();
        for (Datacenter &site : slow.cluster.datacenters)
            site.pools[0].ssd->writeGBps = 0;
        m_document->apply(handmade::shared(slow), QStringLiteral("0 GB/s"));
        QVERIFY(!list->model()->index(list->findText("drives"), 0).flags().testFlag(Qt::ItemIsEnabled));
        QVERIFY(list->effect(list->findText("drives")).text.isEmpty());
        QVERIFY(m_panel->row("activation_offload")->effectLine()->text().isEmpty());
        QVERIFY(list->itemData(list->findText("drives"), Qt::ToolTipRole).toString().contains("drives"));
    }

    void theRowsEffectIsOnMemory()
    {
        auto effects = std::make_shared<EffectTable>();
        effects->plan = m_document->plan();
        effects->iterationTime = 10;
        effects->memoryBytes = 60e9;
        Effect full;
        full.iterationTime = 13;
        full.change = 0.3;
        full.memoryBytes = 40e9;
        full.capacityBytes = 80e9;
        effects->strategies["recompute=full"] = full;
        m_panel->setEffects(effects);
        QCOMPARE(m_panel->row("recompute")->effectLine()->text(), QStringLiteral("full +30.0 % −20.0 GB"));
        QVERIFY(m_panel->row("recompute")->effectLine()->toolTip().contains("Fullest GPU 40.0 GB of 80.0 GB"));
    }
};

TRAINYARD_TEST(StrategiesMemoryTest)
#include "tst_strategies_memory.moc"
