// SPDX-License-Identifier: GPL-3.0-or-later
// The timelines of a pair made by moving one stage of a pipeline to another datacenter, everything else being equal.
#include "core/evaluation/difference/timeline_difference.h"

#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <set>

using namespace trainyard;

namespace {

constexpr int kMicroBatches = 8, kStages = 4;

/// One replica of four stages with times of our own, the first `here` of them in datacenter a, the others in b.
Plan pipelineWith(int here)
{
    Plan plan;
    plan.cluster.datacenters = { test::site("a", kStages), test::site("b", kStages) };
    plan.cluster.wanLinks = { test::wanLink("a", "b") };
    plan.workload.model = "llama-3-8b";
    plan.workload.globalBatch = kMicroBatches;
    plan.parallelism.tensor = 8;
    plan.parallelism.pipeline = kStages;
    plan.parallelism.data = 1;
    plan.placement.mode = PlacementMode::PipelineAcross;
    if (here > 0)
        plan.placement.stages.push_back({ "a", here, {} });
    if (here < kStages)
        plan.placement.stages.push_back({ "b", kStages - here, {} });
    plan.stack.name = "ideal";
    MeasuredStageTimes times;
    times.forwardMs = { 10, 10, 10, 10 };
    times.backwardMs = { 20, 20, 20, 20 };
    times.activationMb = 100;
    plan.profile = times;
    return plan;
}

const Track &trackOf(const Evaluation &evaluation, std::uint32_t span)
{
    return evaluation.timeline.tracks[evaluation.timeline.trackOf[span]];
}

std::set<std::uint32_t> transfersOf(const Evaluation &evaluation)
{
    std::set<std::uint32_t> spans;
    for (std::uint32_t span = 0; span < evaluation.timeline.spanCount(); ++span)
        if (evaluation.timeline.kind[span] == WorkKind::WanTransfer)
            spans.insert(span);
    return spans;
}

} // namespace

class TstMovedStage : public QObject {
    Q_OBJECT

private slots:
    void aStageInAnotherDatacenterChangesItsTransfersAlone()
    {
        // The second stage, from a to b: its input crosses the WAN in place of its output.
        const EvaluationPtr before = test::evaluated(pipelineWith(2)), after = test::evaluated(pipelineWith(1));
        QCOMPARE(after->layout.classes.front().locations[1].datacenter, 1);
        QCOMPARE(before->layout.classes.front().locations[1].datacenter, 0);
        const TimelineDifference found = timelineDifference(*before, *after);
        QVERIFY2(found.areMatched(), found.whyNotMatched.c_str());
        std::set<std::uint32_t> came, went;
        for (const SpanDifference &span : found.spans) {
            if (span.change() == SpanChange::Came)
                came.insert(span.after);
            else if (span.change() == SpanChange::Went)
                went.insert(span.before);
            else // the same work on the same stage: it takes as long as it took
                QVERIFY(span.change() == SpanChange::Shifted);
        }
        // Every micro-batch crosses one boundary, there and back.
        QCOMPARE(transfersOf(*before).size(), std::size_t(2 * kMicroBatches));
        QVERIFY(went == transfersOf(*before));
        QVERIFY(came == transfersOf(*after));
        for (const std::uint32_t span : went)
            QVERIFY(trackOf(*before, span).stage + trackOf(*before, span).toStage == 1 + 2);
        for (const std::uint32_t span : came)
            QVERIFY(trackOf(*after, span).stage + trackOf(*after, span).toStage == 0 + 1);
    }

    void nothingMovesBeforeTheFirstResultReachesTheStage()
    {
        const EvaluationPtr before = test::evaluated(pipelineWith(2)), after = test::evaluated(pipelineWith(1));
        const Nanoseconds firstForward = 10'000'000; // of the first stage
        QVERIFY(timelineDifference(*before, *after, { 0, firstForward }).spans.empty());
        QVERIFY(!timelineDifference(*before, *after).spans.empty());
    }

    void gpuTimeOfEveryStageIsWhatItWas()
    {
        const TimelineDifference found =
            timelineDifference(*test::evaluated(pipelineWith(2)), *test::evaluated(pipelineWith(1)));
        const auto rows = largestGpuTimes(found, 100);
        QVERIFY(!rows.empty());
        for (const GpuTimeDifference &row : rows) {
            QVERIFY(row.kind == WorkKind::WanTransfer);
            QVERIFY(row.stage < 3); // no end of a transfer of the second stage
        }
        for (const KindDifference &kind : gpuTimeByKind(found))
            QVERIFY(kind.kind == WorkKind::WanTransfer || kind.difference() == 0);
    }

    void allOfAPipelineElsewhereDiffersInNothing()
    {
        const EvaluationPtr here = test::evaluated(pipelineWith(kStages)), there = test::evaluated(pipelineWith(0));
        QVERIFY(here->layout.classes.front().locations[0].datacenter
            != there->layout.classes.front().locations[0].datacenter);
        QVERIFY(timelineDifference(*here, *there).isEmpty());
    }
};

TRAINYARD_APPLESS_TEST(TstMovedStage)
#include "tst_moved_stage.moc"
