// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of states off the GPU in the chart: which ones a switch gives, what they are called, and what a span says of
// itself.
#include "tests/core/evaluation/memory_fit/ladder_plans.h"
#include "tests/support/test_program.h"
#include "views/panels/offload_text.h"
#include "views/theme/theme.h"
#include "views/timeline/chart_canvas.h"
#include "views/timeline/legend.h"
#include "views/timeline/span_text.h"
#include "views/timeline/state_text.h"
#include "views/timeline/timeline_view.h"

#include <QApplication>
#include <QTest>

#include <algorithm>

using namespace trainyard;

namespace {

EvaluationPtr offloading(OptimizerOffload optimizer, int zero = 3, ParameterOffload parameters = ParameterOffload::None,
    bool isDelayed = false)
{
    return test::evaluated(test::with(test::oneNode(), [=](Plan &p) {
        p.memory.optimizerOffload = optimizer;
        p.memory.parameterOffload = parameters;
        p.memory.delayedUpdate = isDelayed;
        p.parallelism.zeroStage = zero;
        p.stack.name = "megatron-deepspeed";
    }));
}

QStringList rowsOf(const Evaluation &evaluation)
{
    QStringList labels;
    for (const TrackRow &row : layOutTracks(evaluation, {}).rows)
        labels << row.label;
    return labels;
}

std::uint32_t first(const Evaluation &evaluation, WorkKind kind)
{
    const auto &kinds = evaluation.timeline.kind;
    return std::uint32_t(std::ranges::find(kinds, kind) - kinds.begin());
}

} // namespace

class StateRowsShownTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }

    void rowsFollowTheSwitches()
    {
        const QString stage = QStringLiteral("stage 1");
        QCOMPARE(rowsOf(*offloading(OptimizerOffload::None)), (QStringList { stage }));
        QCOMPARE(rowsOf(*offloading(OptimizerOffload::Host, 1)), (QStringList { stage, "→ host", "CPU", "← host" }));
        QCOMPARE(rowsOf(*offloading(OptimizerOffload::Ssd, 3, ParameterOffload::Ssd)),
            (QStringList { stage, "← weights", "→ gradients", "drives", "CPU", "← host" }));
        QCOMPARE(rowsOf(*offloading(OptimizerOffload::None, 3, ParameterOffload::Host)),
            (QStringList { stage, "← weights" }));
    }

    /// The share that the GPU updates is on its row, in its card and in the memory panel.
    void theGpusShareIsSaid()
    {
        // A slow link, so that the processors have a share: k = 1 would send all states both ways.
        const Plan plan = test::with(*offloading(OptimizerOffload::Interleaved)->plan,
            [](Plan &p) { p.cluster.datacenters[0].pools[0].host->gbytesPerSecondPerGpu = 8; });
        const EvaluationPtr e = test::evaluated(plan);
        const int stride = e->offloadedSteps[0][0].stride;
        QVERIFY(stride > 1);
        const QString share = QStringLiteral("1 in %1 groups").arg(stride);
        QVERIFY(rowsOf(*e).contains(QStringLiteral("GPU, ") + share));
        QVERIFY(spanFacts(*e, first(*e, WorkKind::GpuOptimizer), false)
                    .join(u' ')
                    .contains(QStringLiteral("1 in %1 groups").arg(stride)));
        const auto lines = stepLines(*e, 0);
        QVERIFY(std::ranges::any_of(lines, [&](const OffloadLine &line) { return line.value == share; }));
        QVERIFY(stepLines(*offloading(OptimizerOffload::None), 0).empty());
    }

    void aWaitingGpuSaysForWhom()
    {
        const EvaluationPtr e = offloading(OptimizerOffload::Ssd);
        const std::uint32_t optimizer = first(*e, WorkKind::Optimizer);
        QVERIFY(spanTitle(*e, optimizer).startsWith("Optimizer on the host"));
        QVERIFY(spanFacts(*e, optimizer, false).join(u' ').contains("waits for the update"));
        const EvaluationPtr kept = offloading(OptimizerOffload::None);
        QVERIFY(spanTitle(*kept, first(*kept, WorkKind::Optimizer)).startsWith(QString::fromUtf8("Optimizer · stage")));
    }

    void aSpanSaysWhatMovesAndWhichGroup()
    {
        const EvaluationPtr e = offloading(OptimizerOffload::Ssd, 3, ParameterOffload::Host);
        const std::uint32_t read = first(*e, WorkKind::DriveRead);
        const int groups = e->offloadedSteps[0][0].groups;
        QVERIFY(groups > 2);
        QCOMPARE(spanTitle(*e, read), QStringLiteral("Drive read · group 1 of %1 · stage 1").arg(groups));
        const QString facts = spanFacts(*e, read, false).join(u' ');
        QVERIFY2(facts.contains("1.75 GB/s"), qPrintable(facts)); // an eighth of the node's 14
        const auto drives = std::ranges::find(e->timeline.tracks, Stream::StepDrive, &Track::stream);
        const QString late = spanFacts(*e, drives->first, false).join(u' ');
        QVERIFY2(late.contains("no time to write") && late.contains("begins with the optimizer"), qPrintable(late));
        const std::uint32_t weights = first(*e, WorkKind::WeightsToGpu);
        QVERIFY(spanFacts(*e, weights, false).join(u' ').contains("weights come from host memory"));
        QVERIFY(spanTitle(*e, weights).contains("micro-batch 1"));
    }

    void aDelayedUpdateSaysWhoseItIs()
    {
        const EvaluationPtr e = offloading(OptimizerOffload::Host, 1, ParameterOffload::None, true);
        QVERIFY(spanFacts(*e, first(*e, WorkKind::CpuOptimizer), false).join(u' ').contains("iteration before"));
        QVERIFY(spanFacts(*e, first(*e, WorkKind::Optimizer), false).join(u' ').contains("the rest is hidden"));
    }

    void theLegendHasWhatTheRowsShow()
    {
        TimelineView view;
        view.resize(1400, 300);
        view.setEvaluation(offloading(OptimizerOffload::Ssd));
        view.show();
        QApplication::processEvents();
        const auto names = [&view] {
            QStringList shown;
            for (const KindButton *button : view.findChildren<KindButton *>())
                shown << button->text();
            return shown;
        };
        for (const char *kind : { "drive read", "drive write", "CPU optimizer", "weights to GPU" })
            QVERIFY2(names().contains(kind), kind);
        view.setEvaluation(offloading(OptimizerOffload::None));
        QTRY_VERIFY(!names().contains("drive read"));
    }

    /// Kinds of one chart are told apart by their colours.
    void coloursDiffer()
    {
        for (const ThemeKind kind : { ThemeKind::Light, ThemeKind::Dark }) {
            applyTheme(*qApp, kind);
            QSet<QRgb> colours;
            for (int k = 0; k < kWorkKindCount; ++k)
                colours.insert(theme().work(WorkKind(k)).rgb());
            QCOMPARE(colours.size(), kWorkKindCount);
        }
    }
};

TRAINYARD_TEST(StateRowsShownTest)
#include "tst_state_rows_shown.moc"
