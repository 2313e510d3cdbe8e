// SPDX-License-Identifier: GPL-3.0-or-later
// Mixed GPUs in the whole window: L4s dragged to A6000s are dealt work at once, a share is pinned by hand, what others
// would make of the GPUs is compared and taken, and layers have names on the timeline.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "views/details/details.h"
#include "views/panels/baseline_row.h"
#include "views/panels/effect_combo.h"
#include "views/panels/gpu_shares_panel.h"
#include "views/panels/hover_button.h"
#include "views/panels/set_bars.h"
#include "views/panels/share_bar.h"
#include "views/panels/sharing_comparison.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/strategy_row.h"
#include "views/parts/text_line.h"
#include "views/timeline/span_text.h"
#include "views/timeline/timeline_view.h"
#include "views/timeline/track_layout.h"

#include <QToolButton>

#include <algorithm>

using namespace trainyard;

namespace {

/// Four A6000 in one datacenter, four L4 in another, which GPT 2.7B is accumulated on layer by layer.
Plan studioAndEdge()
{
    Plan plan;
    plan.name = "Studio and edge";
    const auto place = [&](const char *id, const char *name, const char *gpu, double longitude) {
        Datacenter d;
        d.id = id;
        d.name = name;
        d.latitude = 43;
        d.longitude = longitude;
        d.fabricGbpsPerGpu = 50;
        Pool pool;
        pool.id = std::string(id) + "-gpus";
        pool.gpu = gpu;
        pool.nodes = 1;
        pool.gpusPerNode = 4;
        d.pools = { pool };
        plan.cluster.datacenters.push_back(d);
    };
    place("studio", "Studio", "a6000-48gb", -79);
    place("edge", "Edge", "l4-24gb", -71);
    WanLink link;
    link.between = { "studio", "edge" };
    link.rttMs = 12;
    link.capacityGbps = 40;
    plan.cluster.wanLinks = { link };
    plan.workload.model = "gpt-3-2.7b";
    plan.workload.sequenceLength = 512;
    plan.workload.globalBatch = 64;
    plan.workload.precision = Precision::Fp16;
    plan.parallelism.zeroStage = 3;
    plan.stack.name = "fsdp";
    plan.memory.recompute = Recompute::Full;
    plan.heterogeneity.compute = ComputeSharing::Balanced;
    plan.heterogeneity.state = StateSharing::MinParams;
    plan.heterogeneity.accumulation = Accumulation::Layered;
    return plan;
}

struct MixedWindow : WindowFixture {
    GpuSharesPanel *panel = window.workbench().shares;

    explicit MixedWindow(const Plan &plan)
        : WindowFixture(QStringLiteral("cephalo-lab"))
    {
        document.startNew(std::make_shared<const Plan>(plan));
        settle();
        window.workbench().reveal(panel);
    }
    MixedWindow()
        : WindowFixture(QStringLiteral("cephalo-lab"))
    {
        window.workbench().reveal(panel);
    }
    [[nodiscard]] std::vector<GpuShare> shares() const
    {
        std::vector<GpuShare> all;
        for (const GpuShareRow *row : panel->rows())
            if (row->isVisibleTo(panel))
                all.push_back(row->share());
        return all;
    }
    [[nodiscard]] int samplesOf(const QString &gpu) const
    {
        int sum = 0;
        for (const GpuShare &share : shares())
            sum += share.name == gpu ? share.samples() * share.replicas : 0;
        return sum;
    }
};

} // namespace

class MixedGpusTest : public QObject {
    Q_OBJECT
private slots:
    void gpusDraggedToOthersAreDealtWorkInTheAir()
    {
        MixedWindow w(studioAndEdge());
        const PlanPtr before = w.document.plan();
        const std::vector<GpuShare> sharesBefore = w.shares();
        QVERIFY(!sharesBefore.empty());
        TimelineView *timeline = w.window.workbench().timeline;
        const Nanoseconds durationBefore = timeline->evaluation()->timeline.duration;

        const QPoint from = w.nodeAt(1, 0), to = w.titleOf(0);
        QTest::mousePress(w.map(), Qt::LeftButton, Qt::ControlModifier, from); // the whole pool
        for (int step = 1; step <= 6; ++step)
            w.moveHeld(from + (to - from) * step / 6);
        QVERIFY(w.document.isPreviewing());
        w.settle();
        QVERIFY(w.shares() != sharesBefore);
        QVERIFY(timeline->evaluation()->timeline.duration != durationBefore);
        QTest::mouseRelease(w.map(), Qt::LeftButton, {}, to);
        w.settle();
        QCOMPARE(w.document.undoStack().undoText(), QStringLiteral("Move 4 GPUs Edge → Studio"));
        // the A6000 is faster, and together they have all 64 samples
        QCOMPARE(w.samplesOf(QStringLiteral("L4")) + w.samplesOf(QStringLiteral("RTX A6000")), 64);
        QVERIFY(w.samplesOf(QStringLiteral("RTX A6000")) > w.samplesOf(QStringLiteral("L4")));
        for (const GpuShare &share : w.shares()) {
            QVERIFY(!share.why.isEmpty());
            QCOMPARE(share.place, QStringLiteral("Studio"));
        }
        w.document.undoStack().undo();
        w.settle();
        QCOMPARE(w.document.plan(), before);
        QCOMPARE(w.shares(), sharesBefore);
        QCOMPARE(timeline->evaluation()->timeline.duration, durationBefore);
    }

    void aShareIsPinnedByHandAndTheNumbersFollow()
    {
        MixedWindow w;
        const double before = *w.bridge.evaluation()->metrics.iterationTime;
        const auto rows = w.panel->rows();
        const auto p40 = std::ranges::find_if(
            rows, [](const GpuShareRow *row) { return row->share().name == QStringLiteral("Tesla P40"); });
        QVERIFY(p40 != rows.end());
        ShareBar *bar = (*p40)->workBar();
        const QPoint from(bar->handleX(), bar->height() / 2), to(bar->handleX() * 10 / 5, bar->height() / 2);
        QTest::mousePress(bar, Qt::LeftButton, {}, from);
        for (int step = 1; step <= 5; ++step) {
            const QPoint at = from + (to - from) * step / 5;
            QMouseEvent move(QEvent::MouseMove, at, bar->mapToGlobal(at), Qt::NoButton, Qt::LeftButton, {});
            QApplication::sendEvent(bar, &move);
        }
        QVERIFY(w.document.isPreviewing());
        w.settle();
        QVERIFY(*w.bridge.evaluation()->metrics.iterationTime > before); // all wait for ten samples on the slowest
        QTest::mouseRelease(bar, Qt::LeftButton, {}, to);
        w.settle();
        QCOMPARE(w.samplesOf(QStringLiteral("Tesla P40")), 10);
        QCOMPARE(w.document.undoStack().undoText(), QStringLiteral("Pin 10 of 64 samples on Tesla P40"));
        QVERIFY(w.window.commands().trigger("edit.undo"));
        w.settle();
        QCOMPARE(*w.bridge.evaluation()->metrics.iterationTime, before);
    }

    void whatOthersWouldMakeOfTheGpusIsComparedAndTaken()
    {
        MixedWindow w;
        SharingComparison *comparison = w.panel->comparison();
        QVERIFY(w.window.commands().trigger("view.baselines"));
        QVERIFY(comparison->isComparing());
        const auto known = [&] {
            return std::ranges::count_if(comparison->rows(), [](const BaselineRow *row) { return row->isVisible(); });
        };
        QTRY_COMPARE_WITH_TIMEOUT(known(), std::ptrdiff_t(kSharingBaselines.size()), 60000);
        QTRY_VERIFY(std::ranges::any_of(comparison->rows(), &BaselineRow::isOpen)); // the fastest
        const BaselineRow *accumulated = comparison->rows()[1];
        QVERIFY(accumulated->result().iterationTime);
        QVERIFY2(accumulated->figures()[1].startsWith(u'+'), qPrintable(accumulated->figures().join(u' ')));
        const auto other = std::ranges::find_if(comparison->rows(), [](const BaselineRow *row) {
            return row->result().of.plan && !row->result().of.isCurrent && row->useButton()->isVisible();
        });
        QVERIFY(other != comparison->rows().end());
        QTest::mousePress(*other, Qt::LeftButton, {}, QPoint(20, 30));
        QVERIFY((*other)->isOpen() && !(*other)->bars()->sets().empty());
        const PlanPtr wanted = (*other)->result().of.plan;
        const QString sentence = QString::fromStdString((*other)->result().of.sentence);
        QTest::mouseClick((*other)->useButton(), Qt::LeftButton);
        w.settle();
        QCOMPARE(*w.document.plan(), *wanted);
        QCOMPARE(w.document.undoStack().undoText(), sentence);
        // live: compared again for the plan that there is now
        QTRY_VERIFY_WITH_TIMEOUT((*other)->result().of.isCurrent, 60000);
        w.document.undoStack().undo();
        w.settle();
    }

    void spansTellTheirLayerAndRowsTheirGpu()
    {
        MixedWindow w;
        const EvaluationPtr evaluation = w.bridge.evaluation();
        const Timeline &timeline = evaluation->timeline;
        for (std::uint32_t s = 0; s < timeline.spanCount(); ++s) {
            if (timeline.kind[s] != WorkKind::Forward || timeline.chunk[s] != 11 || timeline.microBatch[s] != 0)
                continue;
            const QString title = spanTitle(*evaluation, s);
            QVERIFY2(title.startsWith(QStringLiteral("Layer 12 forward · micro-batch 1")), qPrintable(title));
            QVERIFY2(!title.contains(QStringLiteral("chunk")) && !title.contains(QStringLiteral("stage")),
                qPrintable(title));
        }
        const Details pool = gpuDetails(*evaluation, 0, 2, 0, 0); // the P40
        QVERIFY(std::ranges::any_of(pool.facts, [](const DetailFact &fact) {
            return fact.value == QStringLiteral("5 of 64 samples, 25.8 % of the states");
        }));
    }

    void whatRanksExchangeOfALayerHasARowOfItsOwnWhereItTakesTime()
    {
        MixedWindow w;
        const auto rowsOf = [&w](const QString &label) {
            const TrackLayout layout = layOutTracks(*w.bridge.evaluation(), {});
            return std::ranges::count(layout.rows, label, &TrackRow::label);
        };
        QCOMPARE(rowsOf(QStringLiteral("gather, reduce")), 0); // as its planner has it: no time at all
        Plan plan = *w.document.plan();
        plan.layerProfiles->allGatherMs = 60;
        plan.layerProfiles->reduceScatterMs = 120;
        w.document.apply(std::make_shared<const Plan>(plan), QStringLiteral("Measured collectives"));
        w.settle();
        const EvaluationPtr evaluation = w.bridge.evaluation();
        QCOMPARE(rowsOf(QStringLiteral("gather, reduce")), std::ptrdiff_t(evaluation->layout.classes.size()));
        QCOMPARE(rowsOf(QStringLiteral("RTX A6000")), 1);
        const Timeline &timeline = evaluation->timeline;
        int reductions = 0; // of each layer one a class
        for (std::uint32_t s = 0; s < timeline.spanCount(); ++s)
            if (timeline.kind[s] == WorkKind::GradientReduce && timeline.chunk[s] == 11) {
                QVERIFY2(spanTitle(*evaluation, s).startsWith(QStringLiteral("Gradient reduction of layer 12")),
                    qPrintable(spanTitle(*evaluation, s)));
                ++reductions;
            }
        QCOMPARE(reductions, int(evaluation->layout.classes.size()));
    }

    void constantsOfThePlannerAreFoldedAway()
    {
        MixedWindow w;
        StrategyPanel *strategies = w.window.workbench().strategies;
        w.window.workbench().reveal(strategies);
        const auto shown = [strategies] {
            return std::ranges::any_of(strategies->findChildren<TextLine *>(), [strategies](const TextLine *line) {
                return line->text() == QStringLiteral("Usable memory") && line->isVisibleTo(strategies);
            });
        };
        QVERIFY(!shown());
        const auto folds = strategies->findChildren<QToolButton *>();
        const auto fold = std::ranges::find(folds, QStringLiteral("Advanced"), &QToolButton::text);
        QVERIFY(fold != folds.end());
        QTest::mouseClick(*fold, Qt::LeftButton);
        QVERIFY(shown());
        w.document.openAsNew(WindowFixture::samplePath(QStringLiteral("gpt3-175b-1024-a100")));
        QTRY_VERIFY(!(*fold)->isVisibleTo(strategies)); // equal GPUs have no such section
        QVERIFY(!shown() && !strategies->row("share_work")->isVisibleTo(strategies));
    }

    void layersGoThroughWholeModelsAndMoreStagesEndThat()
    {
        MixedWindow w;
        StrategyPanel *strategies = w.window.workbench().strategies;
        QCOMPARE(strategies->row("share_work")->list()->currentText(), QStringLiteral("by speed"));
        QVERIFY(strategies->row("boundary_offload")->isVisibleTo(strategies));
        const auto &choices = strategies->row("pipeline")->alternatives();
        const auto two = std::ranges::find(choices, std::string("pipeline=2"), &Alternative::id);
        QVERIFY(two != choices.end() && two->plan);
        QCOMPARE(two->plan->heterogeneity.accumulation, Accumulation::Standard);
        w.document.apply(two->plan, QStringLiteral("Pipeline 2"));
        w.settle();
        const auto &ways = strategies->row("accumulation")->alternatives();
        const auto layered = std::ranges::find(ways, std::string("accumulation=layered"), &Alternative::id);
        QCOMPARE(QString::fromStdString(layered->blockedBecause),
            QStringLiteral("it goes through whole models, and the pipeline has 2 stages"));
        QVERIFY(!strategies->row("boundary_offload")->isVisibleTo(strategies));
        QVERIFY(strategies->row("share_layers")->isVisibleTo(strategies));
    }
};

TRAINYARD_TEST(MixedGpusTest)
#include "tst_mixed_gpus.moc"
