// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/iteration/graph/pipelines.h"
#include "tests/support/rewritten_graph.h"
#include "tests/support/test_program.h"

#include <map>

using namespace pipelines;
using test::rewritten;

namespace {

int count(const Timeline &timeline, WorkKind kind)
{
    return static_cast<int>(std::ranges::count(timeline.kind, kind));
}

std::uint32_t only(const Timeline &timeline, WorkKind kind, int stage, int pipelineClass = 0)
{
    for (std::uint32_t span = 0; span < timeline.spanCount(); ++span) {
        const Track &track = timeline.tracks[timeline.trackOf[span]];
        if (timeline.kind[span] == kind && track.stage == stage && track.pipelineClass == pipelineClass)
            return span;
    }
    qFatal("no such span");
}

const Track &channel(const Timeline &timeline, int from, int to)
{
    for (const Track &track : timeline.tracks)
        if (track.stream == Stream::Wan && track.stage == from && track.toStage == to)
            return track;
    qFatal("no such channel");
}

/// 1F1B on 2 stages x 2 micro-batches with f = 10, b = 20, and gradient sync and step. Last backwards end at 90 and 70.
IterationCosts withSyncAndStep(SyncAndStepTimes syncAndStep)
{
    IterationCosts costs = even(program(ScheduleKind::OneFOneB, 2, 2), { 10, 20, 0 });
    costs.classes[0].syncAndStep.assign(2, syncAndStep);
    return costs;
}

} // namespace

class TestPipelineGraph : public QObject {
    Q_OBJECT
private slots:
    void everyOperationIsDrawnOnceAndKeepsItsTime();
    void fusedRecomputeIsDrawnBeforeItsBackward();
    void aSplitBackwardReleasesTheStageBeforeAfterItsInputGradient();
    void aWanBoundaryIsAChannelInEachDirection();
    void chunksBetweenTheSameDevicesShareAChannel();
    void theWayBackToTheFirstStageMayBeWan();
    void placementsThatFoldNeedNoTransferWhereTheyTurn();
    void reductionFollowsTheLastBackward();
    void anEarlyReductionNeverEndsBeforeTheLastBackward();
    void reductionWaitsForTheStageInEveryClass();
    void aBarrierHoldsEveryOptimizerForEveryReduction();
    void gatherAndOverheadComeLast();
    void newCostsOfTheSameShapeGiveTheGraphThatBuildingGives();
    void anotherShapeIsAnotherGraph();
    void aDeadlockNamesTheOperation();
    void aMissingForwardIsNamed();
};

void TestPipelineGraph::everyOperationIsDrawnOnceAndKeepsItsTime()
{
    const Timeline timeline = run(even(program(ScheduleKind::Interleaved, 4, 8, 2), { 7, 11, 3 }));
    QCOMPARE(count(timeline, WorkKind::Forward), 4 * 8 * 2);
    QCOMPARE(count(timeline, WorkKind::Backward), 4 * 8 * 2);
    std::map<std::tuple<WorkKind, std::uint32_t, int, int>, int> seen;
    for (std::uint32_t span = 0; span < timeline.spanCount(); ++span)
        ++seen[{ timeline.kind[span], timeline.trackOf[span], timeline.chunk[span], timeline.microBatch[span] }];
    QCOMPARE(seen.size(), timeline.spanCount());
    for (const Track &track : timeline.tracks)
        QCOMPARE(busy(timeline, track), Nanoseconds { 8 * 2 * (7 + 11) });
}

void TestPipelineGraph::fusedRecomputeIsDrawnBeforeItsBackward()
{
    IterationCosts costs = even(program(ScheduleKind::OneFOneB, 2, 3), { 10, 30, 4 });
    for (OpTimes &times : costs.classes[0].ops)
        times.recompute = 10;
    const Timeline timeline = run(costs);
    QCOMPARE(count(timeline, WorkKind::Recompute), 3); // never on the last stage
    for (std::uint32_t span = timeline.tracks[0].first; span < timeline.tracks[0].last; ++span)
        if (timeline.kind[span] == WorkKind::Recompute) {
            QCOMPARE(timeline.kind[span + 1], WorkKind::Backward);
            QCOMPARE(timeline.start[span + 1], timeline.end[span]);
            QCOMPARE(timeline.end[span + 1] - timeline.start[span], Nanoseconds { 30 });
        }
    // first gradient: f + lag + f + b without recompute + lag
    QCOMPARE(timeline.start[only(timeline, WorkKind::Recompute, 0)], Nanoseconds { 10 + 4 + 10 + 20 + 4 });
}

void TestPipelineGraph::aSplitBackwardReleasesTheStageBeforeAfterItsInputGradient()
{
    Program order { { 2, 1, 1, {} }, ChunkPlacement::Loop, {} };
    order.order.assign(2,
        { { OpKind::Forward, false, 0, 0 }, { OpKind::InputGrad, false, 0, 0 }, { OpKind::WeightGrad, false, 0, 0 } });
    IterationCosts costs = even(order, { 10, 0, 0 });
    for (OpTimes &times : costs.classes[0].ops)
        times = { .forward = 10, .backward = 25, .inputGrad = 15, .weightGrad = 10 };
    const Timeline timeline = run(costs);
    // T = 2 f + 2 b + w: the weight gradient of stage 1 runs beside the input gradient of stage 0
    QCOMPARE(timeline.duration, Nanoseconds { 2 * 10 + 2 * 15 + 10 });
    QCOMPARE(
        timeline.start[only(timeline, WorkKind::InputGrad, 0)], timeline.end[only(timeline, WorkKind::InputGrad, 1)]);
}

void TestPipelineGraph::aWanBoundaryIsAChannelInEachDirection()
{
    IterationCosts costs = even(program(ScheduleKind::GPipe, 2, 3), { 10, 20, 0 });
    wan(costs.classes[0], 0, 25, 100);
    const Timeline timeline = run(costs);
    const Track &there = channel(timeline, 0, 1), &back = channel(timeline, 1, 0);
    QCOMPARE(there.last - there.first, 3u);
    QCOMPARE(back.last - back.first, 3u);
    // The channel is slower than the forwards: transfers follow one another, each 25 long, and arrive 100 later.
    QCOMPARE(timeline.start[there.first], Nanoseconds { 10 });
    QCOMPARE(timeline.start[there.first + 2], Nanoseconds { 10 + 2 * 25 });
    const Track &receiver = timeline.tracks[1];
    QCOMPARE(timeline.start[receiver.first + 2], Nanoseconds { 10 + 3 * 25 + 100 });
    // A transfer knows what it carries, even where it had to wait for its channel.
    QCOMPARE(timeline.origin[there.first + 2], timeline.tracks[0].first + 2);
    QCOMPARE(timeline.cause[there.first + 2], there.first + 1);
    QCOMPARE(timeline.origin[receiver.first], kNoSpan);
}

void TestPipelineGraph::chunksBetweenTheSameDevicesShareAChannel()
{
    IterationCosts costs = even(program(ScheduleKind::Interleaved, 4, 4, 2), { 10, 20, 0 });
    wan(costs.classes[0], 1, 5, 100); // chunk 0 from device 1 to 2
    wan(costs.classes[0], 5, 5, 100); // chunk 1 from device 1 to 2
    const Timeline timeline = run(costs);
    QCOMPARE(std::ranges::count(timeline.tracks, Stream::Wan, &Track::stream), 2);
    const Track &there = channel(timeline, 1, 2);
    QCOMPARE(there.last - there.first, 8u);
    for (std::uint32_t span = there.first + 1; span < there.last; ++span)
        QVERIFY(timeline.start[span] >= timeline.end[span - 1]);
}

void TestPipelineGraph::theWayBackToTheFirstStageMayBeWan()
{
    IterationCosts costs = even(program(ScheduleKind::Interleaved, 2, 2, 2), { 10, 20, 0 });
    wan(costs.classes[0], 1, 5, 100); // virtual stage 1 on device 1 -> virtual stage 2 on device 0
    const Timeline timeline = run(costs);
    const Track &wrap = channel(timeline, 1, 0);
    QCOMPARE(timeline.chunk[wrap.first], std::uint16_t { 0 });
    QCOMPARE(timeline.start[wrap.first], Nanoseconds { 20 });
    QCOMPARE(timeline.start[timeline.tracks[0].first + 2], Nanoseconds { 20 + 5 + 100 }); // F of chunk 1
}

void TestPipelineGraph::placementsThatFoldNeedNoTransferWhereTheyTurn()
{
    Program order { { 2, 1, 2, {} }, ChunkPlacement::V, {} };
    const auto op = [](OpKind kind, std::int16_t chunk) { return Op { kind, false, chunk, 0 }; };
    order.order.assign(
        2, { op(OpKind::Forward, 0), op(OpKind::Forward, 1), op(OpKind::Backward, 1), op(OpKind::Backward, 0) });
    // Boundaries 0 and 2 cross; boundary 1 stays on device 1, so that its lag never counts.
    QCOMPARE(run(even(order, { 10, 20, 7 })).duration, Nanoseconds { 4 * 10 + 4 * 20 + 4 * 7 });
}

void TestPipelineGraph::reductionFollowsTheLastBackward()
{
    const Timeline timeline = run(withSyncAndStep({ .reduce = 50, .optimizer = 5 }));
    const std::uint32_t reduce = only(timeline, WorkKind::GradientReduce, 0);
    QCOMPARE(timeline.start[reduce], Nanoseconds { 90 });
    QCOMPARE(timeline.start[only(timeline, WorkKind::Optimizer, 0)], Nanoseconds { 140 });
    QCOMPARE(timeline.start[only(timeline, WorkKind::GradientReduce, 1)], Nanoseconds { 70 });
    QCOMPARE(timeline.duration, Nanoseconds { 145 });
}

void TestPipelineGraph::anEarlyReductionNeverEndsBeforeTheLastBackward()
{
    // It may start 20 early, and lasts 50: 30 show.
    QCOMPARE(run(withSyncAndStep({ .reduce = 50, .reduceEarly = 20 })).duration, Nanoseconds { 90 - 20 + 50 });
    // It lasts 8 only: it ends with the last backward.
    const Timeline timeline = run(withSyncAndStep({ .reduce = 8, .reduceEarly = 20 }));
    QCOMPARE(timeline.duration, Nanoseconds { 90 });
    QCOMPARE(timeline.start[only(timeline, WorkKind::GradientReduce, 0)], Nanoseconds { 82 });
}

void TestPipelineGraph::reductionWaitsForTheStageInEveryClass()
{
    IterationCosts costs = withSyncAndStep({ .reduce = 50 });
    costs.classes.push_back(costs.classes[0]);
    for (OpTimes &times : costs.classes[1].ops)
        times = { .forward = 20, .backward = 40 };
    QCOMPARE(run(costs).duration, Nanoseconds { 180 + 50 });
    QCOMPARE(run(costs).start[only(run(costs), WorkKind::GradientReduce, 0, 0)], Nanoseconds { 180 });
    costs.reduceJoinsClasses = false;
    QCOMPARE(run(costs).start[only(run(costs), WorkKind::GradientReduce, 0, 0)], Nanoseconds { 90 });
}

void TestPipelineGraph::aBarrierHoldsEveryOptimizerForEveryReduction()
{
    IterationCosts costs = withSyncAndStep({ .reduce = 50, .optimizer = 5 });
    costs.optimizerBarrier = true;
    const Timeline timeline = run(costs);
    QCOMPARE(timeline.start[only(timeline, WorkKind::Optimizer, 1)], Nanoseconds { 140 });
    QCOMPARE(timeline.start[only(timeline, WorkKind::Optimizer, 0)], Nanoseconds { 140 });
}

void TestPipelineGraph::gatherAndOverheadComeLast()
{
    IterationCosts costs = withSyncAndStep({ .reduce = 50, .optimizer = 5, .gather = 30 });
    costs.overhead = 12;
    const Timeline timeline = run(costs);
    QCOMPARE(timeline.start[only(timeline, WorkKind::ParameterGather, 0)], Nanoseconds { 145 });
    QCOMPARE(timeline.start[only(timeline, WorkKind::Overhead, 0)], Nanoseconds { 175 });
    QCOMPARE(timeline.duration, Nanoseconds { 187 });
}

void TestPipelineGraph::newCostsOfTheSameShapeGiveTheGraphThatBuildingGives()
{
    IterationCosts costs = withSyncAndStep({ .reduce = 50, .reduceEarly = 5, .optimizer = 5, .gather = 30 });
    wan(costs.classes[0], 0, 25, 100);
    costs.linkCapacity = { 1e9, 1e9 };
    const TaskGraph before = graph(costs);
    for (OpTimes &times : costs.classes[0].ops)
        times = { .forward = 13, .backward = 29 };
    wan(costs.classes[0], 0, 7, 60).rateCap[0] = 3e8;
    costs.classes[0].syncAndStep.assign(2, { .reduce = 60, .reduceEarly = 7, .optimizer = 6, .gather = 31 });
    costs.classes[0].pipelines = 4;
    costs.linkCapacity = { 1e8, 2e8 };
    const auto updated = rewritten(before, costs);
    QVERIFY(updated);
    const TaskGraph built = graph(costs);
    QCOMPARE(updated->table.durations, built.table.durations);
    QCOMPARE(updated->table.lags, built.table.lags);
    QCOMPARE(updated->table.linkCapacity, built.table.linkCapacity);
    QCOMPARE(updated->table.flows[0].rateCap, built.table.flows[0].rateCap);
    QCOMPARE(updated->table.flows[0].weight, 4.0);
    QCOMPARE(run(*updated).end, run(built).end);
}

void TestPipelineGraph::anotherShapeIsAnotherGraph()
{
    const IterationCosts costs = withSyncAndStep({ .reduce = 50 });
    const TaskGraph tasks = graph(costs);
    QVERIFY(rewritten(tasks, costs));
    IterationCosts other = costs;
    other.classes[0].syncAndStep[0].gather = 1;
    QVERIFY(!rewritten(tasks, other));
    other = costs;
    other.classes[0].boundaries[0].isWan = true;
    QVERIFY(!rewritten(tasks, other));
    other = costs;
    other.classes[0].ops[0].recompute = 1;
    QVERIFY(!rewritten(tasks, other));
    other = costs;
    std::swap(other.classes[0].program.order[0][1], other.classes[0].program.order[0][2]);
    QVERIFY(!rewritten(tasks, other));
    other = costs;
    other.overhead = 1;
    QVERIFY(!rewritten(tasks, other));
}

void TestPipelineGraph::aDeadlockNamesTheOperation()
{
    Program order = program(ScheduleKind::OneFOneB, 2, 2);
    order.order[0] = order.order[1]; // F0 B0 F1 B1 on both: works, but not when stage 1 wants F1 first
    order.order[1] = { order.order[0][0], order.order[0][2], order.order[0][1], order.order[0][3] };
    const auto built = buildPipelineGraph(even(order, {}));
    QVERIFY(!built);
    QCOMPARE(built.error().code, ErrorCode::Internal);
    QCOMPARE(QString::fromStdString(built.error().what),
        "stage 0: backward of micro-batch 0 waits for stage 1: backward of micro-batch 0, which waits for it");
}

void TestPipelineGraph::aMissingForwardIsNamed()
{
    Program order = program(ScheduleKind::OneFOneB, 2, 2);
    std::erase_if(order.order[0], [](const Op &op) { return op.kind == OpKind::Forward && op.microBatch == 1; });
    const auto built = buildPipelineGraph(even(order, {}));
    QVERIFY(!built);
    QVERIFY(built.error().what.contains("stage 0: backward of micro-batch 1"));
    QVERIFY(built.error().what.contains("waits for its forward"));
}

TRAINYARD_APPLESS_TEST(TestPipelineGraph)
#include "tst_pipeline_graph.moc"
