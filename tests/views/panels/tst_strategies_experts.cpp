// SPDX-License-Identifier: GPL-3.0-or-later
// The section "Experts" of the strategy panel with the hands of a user, and what the panels say of an evaluation of
// experts: there for models that have some, and for no others.
#include "strategy_fixture.h"
#include "tests/support/test_program.h"
#include "tests/support/told.h"
#include "views/panels/breakdown_bar.h"
#include "views/panels/expert_text.h"
#include "views/panels/number_strip.h"
#include "views/panels/why_panel.h"
#include "views/parts/panel_parts.h"
#include "views/theme/switch_button.h"
#include "views/theme/theme.h"

#include <QSignalSpy>
#include <QToolButton>

#include <algorithm>

using namespace trainyard;

namespace {

/// Mixtral whose tensor groups of eight hold the same tokens; its experts lie on two nodes.
Plan withExperts()
{
    Plan plan = handmade::plan();
    plan.workload.model = "mixtral-8x7b";
    plan.parallelism.pipeline = 1;
    plan.parallelism.sequenceParallel = false;
    plan.parallelism.expert = 2;
    plan.parallelism.expertTensor = 8;
    return plan;
}

Evaluation evaluated(const PlanPtr &plan)
{
    Evaluation evaluation = handmade::evaluation();
    evaluation.plan = plan;
    evaluation.model = *builtinCatalogue().model(plan->workload.model);
    ExpertMetrics experts;
    experts.chosen = MoeDispatch::TensorSliced;
    experts.forwardChunks = 4;
    experts.layerMs = 3;
    experts.exposedMs = 0.75;
    experts.wireGBps = 21.5;
    experts.logicalGBps = 43;
    evaluation.metrics.experts = experts;
    return evaluation;
}

} // namespace

class StrategiesExpertsTest : public QObject, protected StrategyFixture {
    Q_OBJECT
    [[nodiscard]] TextLine *line(const char *name, const QWidget &panel) const
    {
        const auto lines = panel.findChildren<TextLine *>();
        const auto it = std::ranges::find_if(
            lines, [name](const TextLine *one) { return one->objectName() == QLatin1String(name); });
        return it == lines.end() ? nullptr : *it;
    }
    [[nodiscard]] QStringList visibleTexts() const
    {
        QStringList texts;
        for (const TextLine *one : m_panel->findChildren<TextLine *>())
            if (one->isVisibleTo(m_panel.get()))
                texts << one->text().trimmed();
        return texts;
    }

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }
    void init() { start(withExperts()); }
    void cleanup() { stop(); }

    void aModelWithoutExpertsHasNoSuchSectionNorItsNumbers()
    {
        QVERIFY(shows("expert") && shows("dispatch") && shows("capacity_factor"));
        start(handmade::plan());
        for (const char *group : { "expert", "expert_tensor", "dispatch", "overlap_chunks", "expert_overlap" })
            QVERIFY2(!shows(group), group);
        for (QToolButton *fold : m_panel->findChildren<QToolButton *>())
            if (fold->text() == QStringLiteral("Advanced"))
                fold->setChecked(true);
        QVERIFY(!visibleTexts().contains(QStringLiteral("Imbalance")));
        start(withExperts());
        for (QToolButton *fold : m_panel->findChildren<QToolButton *>())
            if (fold->text() == QStringLiteral("Advanced"))
                fold->setChecked(true);
        QVERIFY(visibleTexts().contains(QStringLiteral("Imbalance")));
    }

    void aWayIsChosenAndUndone()
    {
        choose("dispatch", QStringLiteral("traffic-aware"));
        QCOMPARE(plan().moe.dispatch, MoeDispatch::TrafficAware);
        QCOMPARE(undoText(), QStringLiteral("Expert dispatch flat → traffic-aware"));
        QVERIFY(shows("pipeline_backward"));
        choose("overlap_chunks", QStringLiteral("4"));
        QCOMPARE(plan().moe.overlapChunks, std::optional(4));
        QTest::mouseClick(m_panel->row("pipeline_backward")->toggle(), Qt::LeftButton);
        QVERIFY(plan().moe.pipelineBackward);
        for (int step = 0; step < 3; ++step)
            m_document->undoStack().undo();
        QCOMPARE(plan(), withExperts());
        QVERIFY(!shows("pipeline_backward"));
    }

    void whatLeavesNothingToGainSaysSoInTheList()
    {
        Plan split = withExperts();
        split.parallelism.sequenceParallel = true;
        start(split);
        EffectCombo *list = m_panel->row("dispatch")->list();
        const int aware = list->findText(QStringLiteral("traffic-aware"), Qt::MatchStartsWith);
        QVERIFY(!(list->model()->index(aware, 0).flags() & Qt::ItemIsEnabled));
        QVERIFY(list->itemData(aware, Qt::ToolTipRole).toString().contains(QStringLiteral("nothing to gain")));
    }

    void autoTellsWhatItCameTo()
    {
        choose("dispatch", QStringLiteral("traffic-aware"));
        m_panel->setShown(test::told(m_document->plan(), handmade::shared(evaluated(m_document->plan()))));
        QVERIFY2(m_panel->row("dispatch")->list()->currentText().contains(QStringLiteral("(sliced)")),
            qPrintable(m_panel->row("dispatch")->list()->currentText()));
        QVERIFY2(m_panel->row("overlap_chunks")->list()->currentText().contains(QStringLiteral("4, 1")),
            qPrintable(m_panel->row("overlap_chunks")->list()->currentText()));
    }

    void theExchangeIsToldBelowItsSwitches()
    {
        m_panel->setShown(test::told(m_document->plan(), handmade::shared(evaluated(m_document->plan()))));
        const TextLine *facts = line("expertFacts", *m_panel);
        QVERIFY(facts && facts->isVisibleTo(m_panel.get()));
        for (const char *what :
            { "750 µs of 3.00 ms", "tensor-sliced in 4 pieces, 1 in the backward", "21.5 GB/s on the wire, 43 GB/s" })
            QVERIFY2(facts->text().contains(QString::fromUtf8(what)), qPrintable(facts->text()));
        QVERIFY(!facts->text().contains(QStringLiteral("Rank"))); // all alike
    }

    void unevenLoadsAndDroppedVisitsAreToldWhereThereAreSome()
    {
        Evaluation evaluation = evaluated(m_document->plan());
        evaluation.metrics.experts->skew = 2.5;
        evaluation.metrics.experts->slowestRank = 1;
        evaluation.metrics.experts->droppedShare = 0.07;
        const QString text = expertFacts(evaluation.metrics).join(u' ');
        QVERIFY2(text.contains(QStringLiteral("Rank 1 of a group is the fullest, 2.50 × the mean")), qPrintable(text));
        QVERIFY(text.contains(QStringLiteral("7.00 % of the visits find no room")));
        QVERIFY(expertFacts(Metrics()).isEmpty() && exposedExchange(Metrics()).isEmpty());
    }

    void whyAndTheStripTellHowMuchIsExposed()
    {
        WhyPanel why;
        why.setShown(test::told(m_document->plan(), handmade::shared(handmade::evaluation())));
        const TextLine *exchange = line("expertExchange", why);
        QVERIFY(exchange && exchange->isHidden());
        Evaluation evaluation = evaluated(m_document->plan());
        evaluation.metrics.breakdown = Breakdown { .compute = 9, .bubble = 1, .expertParallel = 2.5 };
        why.setShown(test::told(m_document->plan(), handmade::shared(evaluation)));
        QCOMPARE(exchange->text(), QStringLiteral("Tokens to experts: 750 µs of 3.00 ms per layer exposed."));
        const BreakdownBar *bar = why.findChild<BreakdownBar *>();
        const auto part = std::ranges::find(bar->parts(), QStringLiteral("expert parallel"), &BreakdownBar::Part::name);
        QVERIFY(part != bar->parts().end() && part->meaning.contains(QStringLiteral("750 µs of 3.00 ms")));

        NumberStrip strip;
        strip.setEvaluation(handmade::shared(handmade::evaluation()));
        QVERIFY(!strip.toTsv().contains(QStringLiteral("Tokens to experts")));
        strip.setEvaluation(handmade::shared(evaluation));
        QVERIFY2(strip.toTsv().contains(QStringLiteral("Tokens to experts\t750 µs")), qPrintable(strip.toTsv()));
    }
};

TRAINYARD_TEST(StrategiesExpertsTest)
#include "tst_strategies_experts.moc"
