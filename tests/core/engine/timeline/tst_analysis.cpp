// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/iteration/graph/pipelines.h"
#include "tests/support/test_program.h"

#include "core/engine/timeline/analysis.h"

#include <cmath>

using namespace pipelines;
using tasks::randomGraph;

namespace {

Nanoseconds sum(const StageTime &time)
{
    return time.compute + time.bubble + time.wan + time.pipeline + time.reduce + time.optimizer + time.overhead
        + time.offload;
}

} // namespace

class TestAnalysis : public QObject {
    Q_OBJECT
private slots:
    void stageTimesAddUpToTheIteration();
    void waitsAreBookedToTheTransferFromTheMomentThatItIsReady();
    void queueingOnTheChannelCountsAsWan();
    void localTransfersCountAsPipeline();
    void theTailIsBookedToWhatItIs();
    void whatACollectiveDoesAfterTheLastSpanIsNotABubble();
    void theCriticalPathIsUnbroken();
    void utilizationKeepsTheBusyTime();
    void spansAreFoundByTime();
};

void TestAnalysis::stageTimesAddUpToTheIteration()
{
    std::mt19937 random(21);
    for (int round = 0; round < 200; ++round) {
        const Timeline timeline = run(randomGraph(random, 1 + round % 8, 1 + round % 13));
        for (const StageTime &time : stageTimes(timeline)) {
            QCOMPARE(sum(time), timeline.duration);
            for (const Nanoseconds part : { time.compute, time.bubble, time.wan, time.pipeline, time.reduce,
                     time.optimizer, time.overhead, time.offload })
                QVERIFY(part >= 0);
        }
    }
    IterationCosts costs = even(program(ScheduleKind::Interleaved, 4, 16, 2), { 1003, 2017, 13 });
    wan(costs.classes[0], 1, 3511, 700);
    wan(costs.classes[0], 3, 977, 5003);
    costs.classes[0].syncAndStep.assign(4, { .reduce = 9001, .reduceEarly = 1200, .optimizer = 17, .gather = 303 });
    costs.classes.push_back(costs.classes[0]);
    costs.optimizerBarrier = true;
    const Timeline timeline = run(costs);
    const std::vector<StageTime> times = stageTimes(timeline);
    QCOMPARE(times.size(), std::size_t { 8 });
    for (const StageTime &time : times)
        QCOMPARE(sum(time), timeline.duration);
}

void TestAnalysis::waitsAreBookedToTheTransferFromTheMomentThatItIsReady()
{
    // One micro-batch over one WAN boundary: f 10, hold 25, latency 100, b 20.
    IterationCosts costs = even(program(ScheduleKind::OneFOneB, 2, 1), { 10, 20, 0 });
    wan(costs.classes[0], 0, 25, 100);
    const std::vector<StageTime> times = stageTimes(run(costs));
    // Stage 0: F, waits 125 + 30 (stage 1 at work) + 125, B.
    QCOMPARE(times[0].compute, Nanoseconds { 30 });
    QCOMPARE(times[0].wan, Nanoseconds { 125 }); // its gradient's; that of the forward it does not await
    QCOMPARE(times[0].bubble, Nanoseconds { 125 + 30 });
    // Stage 1: waits 10 for the forward, then 125 for its transfer; after its backward nothing.
    QCOMPARE(times[1].wan, Nanoseconds { 125 });
    QCOMPARE(times[1].bubble, Nanoseconds { 10 + 125 + 20 });
}

void TestAnalysis::queueingOnTheChannelCountsAsWan()
{
    // Forwards of 10 leave a channel that holds each for 25: the second is ready at 20, starts at 35, is through at 60.
    IterationCosts costs = even(program(ScheduleKind::GPipe, 2, 2), { 10, 20, 0 });
    wan(costs.classes[0], 0, 25, 0);
    const std::vector<StageTime> times = stageTimes(run(costs));
    // Stage 1: [0, 10) bubble, [10, 35) wan, [35, 45) F0, [45, 60) wan, F1, B1, B0 until 110; the gradients end at 155.
    QCOMPARE(times[1].wan, Nanoseconds { 25 + 15 });
    QCOMPARE(times[1].bubble, Nanoseconds { 10 + (115 + 25 + 20 - 110) });
}

void TestAnalysis::localTransfersCountAsPipeline()
{
    const std::vector<StageTime> times = stageTimes(run(even(program(ScheduleKind::OneFOneB, 2, 1), { 10, 20, 4 })));
    QCOMPARE(times[1].pipeline, Nanoseconds { 4 });
    QCOMPARE(times[1].bubble, Nanoseconds { 10 + 4 + 20 });
    QCOMPARE(times[0].pipeline, Nanoseconds { 4 });
    QCOMPARE(times[0].bubble, Nanoseconds { 4 + 10 + 20 });
}

void TestAnalysis::theTailIsBookedToWhatItIs()
{
    IterationCosts costs = even(program(ScheduleKind::OneFOneB, 1, 2), { 10, 20, 0 });
    costs.classes[0].syncAndStep[0] = { .reduce = 50, .reduceEarly = 15, .optimizer = 5, .gather = 30 };
    costs.overhead = 7;
    const std::vector<StageTime> times = stageTimes(run(costs));
    QCOMPARE(times[0].compute, Nanoseconds { 60 });
    QCOMPARE(times[0].reduce, Nanoseconds { 50 - 15 + 30 });
    QCOMPARE(times[0].optimizer, Nanoseconds { 5 });
    QCOMPARE(times[0].overhead, Nanoseconds { 7 });
    QCOMPARE(times[0].bubble, Nanoseconds { 0 });
}

void TestAnalysis::whatACollectiveDoesAfterTheLastSpanIsNotABubble()
{
    IterationCosts costs = even(program(ScheduleKind::OneFOneB, 2, 2), { 10, 20, 0 });
    costs.classes[0].syncAndStep.assign(2, { .reduce = 50 });
    const std::vector<StageTime> times = stageTimes(run(costs));
    QCOMPARE(times[0].reduce, Nanoseconds { 50 });
    QCOMPARE(times[1].reduce, Nanoseconds { 50 });
    QCOMPARE(times[1].bubble, Nanoseconds { 10 + 20 });
}

void TestAnalysis::theCriticalPathIsUnbroken()
{
    IterationCosts costs = even(program(ScheduleKind::OneFOneB, 4, 8), { 10, 20, 0 });
    const Timeline local = run(costs);
    const std::vector<std::uint32_t> path = criticalPath(local);
    Nanoseconds length = 0;
    for (const std::uint32_t span : path)
        length += local.end[span] - local.start[span];
    QCOMPARE(length, local.duration); // no lags: the path is all work
    QCOMPARE(local.start[path.front()], Nanoseconds { 0 });
    QCOMPARE(local.end[path.back()], local.duration);

    wan(costs.classes[0], 1, 500, 70);
    const Timeline far = run(costs);
    const std::vector<std::uint32_t> throughWan = criticalPath(far);
    QVERIFY(
        std::ranges::any_of(throughWan, [&](std::uint32_t span) { return far.kind[span] == WorkKind::WanTransfer; }));
    QVERIFY(criticalPath(Timeline {}).empty());
}

void TestAnalysis::utilizationKeepsTheBusyTime()
{
    const Timeline timeline = run(even(program(ScheduleKind::OneFOneB, 4, 8), { 13, 29, 5 }));
    for (const int buckets : { 1, 7, 100, 5000 })
        for (std::uint32_t track = 0; track < 4; ++track) {
            const std::vector<double> share = utilization(timeline, track, buckets, isTrainingCompute);
            double total = 0;
            for (const double value : share) {
                QVERIFY(value >= 0 && value <= 1);
                total += value;
            }
            const double expected =
                static_cast<double>(busy(timeline, timeline.tracks[track])) / static_cast<double>(timeline.duration);
            QVERIFY(std::abs(total / buckets - expected) < 1e-9);
        }
}

void TestAnalysis::spansAreFoundByTime()
{
    // Stage 0: F0 [0, 10), F1 [10, 20), B0 [40, 60), B1 [70, 90).
    const Timeline timeline = run(even(program(ScheduleKind::OneFOneB, 2, 2), { 10, 20, 0 }));
    QCOMPARE(spanAt(timeline, 0, 0), 0u);
    QCOMPARE(spanAt(timeline, 0, 9), 0u);
    QCOMPARE(spanAt(timeline, 0, 10), 1u);
    QCOMPARE(spanAt(timeline, 0, 30), kNoSpan);
    QCOMPARE(spanAt(timeline, 0, -5), kNoSpan);
    QCOMPARE(spanAt(timeline, 0, timeline.duration), kNoSpan);
    QCOMPARE(firstSpanAfter(timeline, 0, 30), 2u);
    QCOMPARE(firstSpanAfter(timeline, 0, timeline.duration + 5), 3u);
    for (std::uint32_t span = 0; span < timeline.spanCount(); ++span)
        QCOMPARE(spanAt(timeline, timeline.trackOf[span], timeline.start[span]), span);
}

TRAINYARD_APPLESS_TEST(TestAnalysis)
#include "tst_analysis.moc"
