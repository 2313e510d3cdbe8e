// SPDX-License-Identifier: GPL-3.0-or-later
// Shared links and resources that choose.
#include "tests/core/timeline/pipelines.h"

using namespace pipelines;

namespace {

/// Flows, each on its own channel, over one link of 10 bytes/ns; alone a flow runs at 10 bytes/ns.
struct SharedLink {
    TaskGraph tasks;

    SharedLink() { tasks.linkCapacity = {10e9}; tasks.lags = {0}; tasks.predBegin = {0}; }

    std::uint32_t resource(Discipline discipline = Discipline::FixedOrder, Stream stream = Stream::Compute)
    {
        Resource made;
        made.discipline = discipline;
        made.track.stream = stream;
        made.track.stage = static_cast<int>(tasks.resources.size());
        made.track.first = made.track.last = static_cast<std::uint32_t>(tasks.taskCount());
        tasks.resources.push_back(made);
        return static_cast<std::uint32_t>(tasks.resources.size()) - 1;
    }

    /// On the resource made last.
    std::uint32_t task(Nanoseconds duration, std::vector<std::pair<std::uint32_t, Nanoseconds>> preds = {}, std::int64_t priority = 0)
    {
        const auto number = static_cast<std::uint32_t>(tasks.taskCount());
        tasks.kind.push_back(WorkKind::Forward);
        tasks.resource.push_back(static_cast<std::uint32_t>(tasks.resources.size()) - 1);
        tasks.durationClass.push_back(static_cast<std::uint32_t>(tasks.durations.size()));
        tasks.durations.push_back(duration);
        tasks.microBatch.push_back(static_cast<int>(number));
        tasks.chunk.push_back(0);
        tasks.flow.push_back(kNoSpan);
        tasks.priority.push_back(priority);
        for (const auto &[pred, lag] : preds) {
            tasks.pred.push_back(pred);
            tasks.lagClass.push_back(static_cast<std::uint32_t>(tasks.lags.size()));
            tasks.lags.push_back(lag);
        }
        tasks.predBegin.push_back(static_cast<std::uint32_t>(tasks.pred.size()));
        tasks.resources.back().track.last = number + 1;
        return number;
    }

    std::uint32_t flow(double bytes, std::vector<std::pair<std::uint32_t, Nanoseconds>> preds = {}, double weight = 1)
    {
        const std::uint32_t number = task(static_cast<Nanoseconds>(bytes / 10), std::move(preds));
        tasks.kind[number] = WorkKind::WanTransfer;
        tasks.flow[number] = static_cast<std::uint32_t>(tasks.flows.size());
        tasks.flows.push_back({.bytes = bytes, .rateCap = 10e9, .weight = weight, .links = {0}});
        return number;
    }
};

/// The first resource serves task 0 until 10, with task 1 waiting; task 2, more urgent, arrives at that instant. Tasks 3 and 4 run
/// on a second one, 4 right after 3, from 9 to 10.
Timeline urgentArrivalAtTheEndOfAnother(Discipline discipline)
{
    SharedLink link;
    link.resource(discipline);
    link.task(10, {}, 0);
    link.task(10, {}, 5);
    link.task(10, {{4, 0}}, 1);
    link.resource();
    link.task(9);
    link.task(1);
    return run(link.tasks);
}

} // namespace

class TestEventLoop : public QObject {
    Q_OBJECT
private slots:
    void aloneAFlowRunsAtItsCap();
    void twoFlowsShareALinkEvenly();
    void aLateFlowSlowsTheFirst();
    void aFlowThatStandsForSeveralTakesTheirShares();
    void latencyDoesNotHoldTheChannel();
    void aFreeResourceTakesTheMostUrgentOfThoseThatHaveArrived();
    void aFreedResourceChoosesBeforeTheArrivalsOfThatInstant();
    void whatGivesTurnsChoosesAfterTheArrivalsOfThatInstant();
    void whatGivesTurnsWaitsForChainsThatTakeNoTime();
    void whatGivesTurnsWaitsForChoicesThatTakeNoTime();
    void whatGivesTurnsWaitsForFlowsThatEndAtThatInstant();
    void anIdleResourceChoosesAmongTheArrivalsOfOneInstant();
    void spansOfAChoosingResourceAreInOrderOfStart();
    void aChannelMayChooseItsFlows();
    void spatialSharingOfAFullLinkIsTheSlowerLink();
    void aLinkWithoutCapacityIsNamed();
    void aCircleIsNamed();
    void resultsAreRepeatable();
};

void TestEventLoop::aloneAFlowRunsAtItsCap()
{
    SharedLink link;
    link.resource();
    link.flow(1000);
    QVERIFY(!needsEvents(link.tasks));
    QVERIFY(sortTopologically(link.tasks).has_value());
    QCOMPARE(run(link.tasks).duration, Nanoseconds{100});
}

void TestEventLoop::twoFlowsShareALinkEvenly()
{
    // 1000 and 600 bytes over 10 bytes/ns. Together 5 each until 600 are through at 120; then 400 left at 10: 160.
    SharedLink link;
    link.resource();
    link.flow(1000);
    link.resource();
    link.flow(600);
    QVERIFY(needsEvents(link.tasks));
    const Timeline timeline = run(link.tasks);
    QCOMPARE(timeline.end, (std::vector<Nanoseconds>{160, 120}));
}

void TestEventLoop::aLateFlowSlowsTheFirst()
{
    // The second begins at 40: the first has 600 left, both run at 5: 400 are through at 120; the last 200 at 10: 140.
    SharedLink link;
    link.resource();
    link.flow(1000);
    link.resource();
    const std::uint32_t wait = link.task(40);
    link.resource();
    link.flow(400, {{wait, 0}});
    const Timeline timeline = run(link.tasks);
    QCOMPARE(timeline.end, (std::vector<Nanoseconds>{140, 40, 120}));
}

void TestEventLoop::aFlowThatStandsForSeveralTakesTheirShares()
{
    // Three equal flows and one: 2.5 bytes/ns each. 250 bytes take 100.
    SharedLink link;
    link.resource();
    link.flow(250, {}, 3);
    link.resource();
    link.flow(250);
    QCOMPARE(run(link.tasks).end, (std::vector<Nanoseconds>{100, 100}));
}

void TestEventLoop::latencyDoesNotHoldTheChannel()
{
    SharedLink link;
    link.resource();
    const std::uint32_t first = link.flow(1000);
    link.flow(1000);
    link.resource();
    link.task(10, {{first, 500}});
    link.resource();
    link.flow(4000);
    const Timeline timeline = run(link.tasks);
    QCOMPARE(timeline.end[0], Nanoseconds{200});
    QCOMPARE(timeline.start[1], Nanoseconds{200});
    QCOMPARE(timeline.start[2], Nanoseconds{700});
}

void TestEventLoop::aFreeResourceTakesTheMostUrgentOfThoseThatHaveArrived()
{
    SharedLink link;
    link.resource(Discipline::Priority);
    link.task(10, {}, 3);
    link.task(10, {}, 1);
    link.task(10, {}, 2);
    const Timeline timeline = run(link.tasks);
    QCOMPARE(timeline.microBatch, (std::vector<std::int32_t>{1, 2, 0}));
    QCOMPARE(timeline.duration, Nanoseconds{30});
}

void TestEventLoop::aFreedResourceChoosesBeforeTheArrivalsOfThatInstant()
{
    // Task 2 is more urgent, but arrives at the instant at which the first ends: task 1 has been there before.
    const Timeline timeline = urgentArrivalAtTheEndOfAnother(Discipline::Priority);
    QCOMPARE(timeline.microBatch, (std::vector<std::int32_t>{0, 1, 2, 3, 4}));
    QCOMPARE(timeline.start, (std::vector<Nanoseconds>{0, 10, 20, 0, 9}));
}

void TestEventLoop::whatGivesTurnsChoosesAfterTheArrivalsOfThatInstant()
{
    // Task 2 is more urgent and arrives at the instant at which the first ends: task 1 lets it go first.
    const Timeline timeline = urgentArrivalAtTheEndOfAnother(Discipline::Turns);
    QCOMPARE(timeline.microBatch, (std::vector<std::int32_t>{0, 2, 1, 3, 4}));
    QCOMPARE(timeline.start, (std::vector<Nanoseconds>{0, 10, 20, 0, 9}));
}

void TestEventLoop::whatGivesTurnsWaitsForChainsThatTakeNoTime()
{
    // A stage ends at 10; a scatter without duration, a task with a latency of nothing, and task 2 follow at the same instant.
    SharedLink link;
    link.resource(Discipline::Turns);
    link.task(10, {}, 0);
    link.task(10, {}, 5);
    link.task(10, {{5, 0}}, 1);
    link.resource(Discipline::WorkConserving);
    link.task(10);
    link.resource();
    link.task(0, {{3, 0}});
    link.resource(Discipline::Priority);
    link.task(0, {{4, 0}});
    QCOMPARE(run(link.tasks).microBatch, (std::vector<std::int32_t>{0, 2, 1, 3, 4, 5}));
}

void TestEventLoop::whatGivesTurnsWaitsForChoicesThatTakeNoTime()
{
    // At 10 the second resource is freed and takes task 4, which had waited; the third, still free, takes what follows from that;
    // only then task 2 is there.
    SharedLink link;
    link.resource(Discipline::Turns);
    link.task(10, {}, 0);
    link.task(10, {}, 5);
    link.task(10, {{5, 0}}, 1);
    link.resource(Discipline::Priority);
    link.task(10, {}, 0);
    link.task(0, {}, 1);
    link.resource(Discipline::Priority);
    link.task(0, {{4, 0}});
    const Timeline timeline = run(link.tasks);
    QCOMPARE(timeline.microBatch, (std::vector<std::int32_t>{0, 2, 1, 3, 4, 5}));
    QCOMPARE(timeline.start, (std::vector<Nanoseconds>{0, 10, 20, 0, 10, 10}));
}

void TestEventLoop::whatGivesTurnsWaitsForFlowsThatEndAtThatInstant()
{
    // Two flows share the link and end at 20, which is known no sooner than then; each lets a transfer of the other's channel go.
    SharedLink link;
    std::uint32_t first[2] = {0, 3};
    for (int channel = 0; channel < 2; ++channel) {
        link.resource(Discipline::Turns);
        link.flow(100);
        link.tasks.priority[link.flow(100)] = 5;
        link.tasks.priority[link.flow(100, {{first[1 - channel], 0}})] = 1;
    }
    const Timeline timeline = run(link.tasks);
    QCOMPARE(timeline.microBatch, (std::vector<std::int32_t>{0, 2, 1, 3, 5, 4}));
    QCOMPARE(timeline.end, (std::vector<Nanoseconds>{20, 40, 60, 20, 40, 60}));
}

void TestEventLoop::anIdleResourceChoosesAmongTheArrivalsOfOneInstant()
{
    SharedLink link;
    link.resource(Discipline::Priority);
    link.task(10, {{2, 0}}, 5);
    link.task(10, {{2, 0}}, 1);
    link.resource();
    link.task(7);
    const Timeline timeline = run(link.tasks);
    QCOMPARE(timeline.microBatch, (std::vector<std::int32_t>{1, 0, 2}));
}

void TestEventLoop::spansOfAChoosingResourceAreInOrderOfStart()
{
    std::mt19937 random(9);
    SharedLink link;
    link.resource(Discipline::Priority);
    for (std::uint32_t i = 0; i < 50; ++i)
        link.task(static_cast<Nanoseconds>(random() % 20), {{50 + i, 0}}, static_cast<std::int64_t>(random() % 7));
    link.resource(Discipline::Priority);
    for (int i = 0; i < 50; ++i)
        link.task(static_cast<Nanoseconds>(random() % 20), {}, static_cast<std::int64_t>(random() % 7));
    const Timeline timeline = run(link.tasks);
    for (const Track &track : timeline.tracks)
        for (std::uint32_t span = track.first + 1; span < track.last; ++span)
            QVERIFY(timeline.start[span] >= timeline.end[span - 1]);
    for (std::uint32_t span = 0; span < 100; ++span)
        if (timeline.cause[span] != kNoSpan)
            QCOMPARE(timeline.start[span], timeline.end[timeline.cause[span]]);
}

void TestEventLoop::aChannelMayChooseItsFlows()
{
    SharedLink link;
    link.resource(Discipline::Priority);
    for (const std::int64_t priority : {9, 2, 4})
        link.tasks.priority[link.flow(100)] = priority;
    const Timeline timeline = run(link.tasks);
    QCOMPARE(timeline.microBatch, (std::vector<std::int32_t>{1, 2, 0}));
    QCOMPARE(timeline.end, (std::vector<Nanoseconds>{10, 20, 30}));
}

void TestEventLoop::spatialSharingOfAFullLinkIsTheSlowerLink()
{
    // Three equal pipelines on a link that carries half of what they ask: as if every transfer took twice as long.
    IterationCosts costs = even(program(ScheduleKind::OneFOneB, 4, 10), {100, 200, 0});
    BoundaryTimes &boundary = wan(costs.classes[0], 1, 150, 40);
    boundary.bytes[0] = boundary.bytes[1] = 150;
    boundary.rateCap[0] = boundary.rateCap[1] = 1e9;
    boundary.linkDirection[1] = 1;
    costs.classes[0].pipelines = 3;
    costs.linkCapacity = {1.5e9, 1.5e9};
    QVERIFY(needsEvents(graph(costs)));
    const Timeline shared = run(costs);
    costs.linkCapacity.clear();
    wan(costs.classes[0], 1, 300, 40);
    const Timeline slower = run(costs);
    QCOMPARE(shared.start, slower.start);
    QCOMPARE(shared.end, slower.end);
}

void TestEventLoop::aLinkWithoutCapacityIsNamed()
{
    SharedLink link;
    link.tasks.linkCapacity = {0};
    link.resource();
    link.flow(100);
    SimulationWorkspace workspace;
    const auto timeline = simulate(link.tasks, workspace);
    QVERIFY(!timeline);
    QVERIFY(timeline.error().what.contains("gets no bandwidth"));
}

void TestEventLoop::aCircleIsNamed()
{
    SharedLink link;
    link.resource(Discipline::Priority);
    link.task(1, {{1, 0}});
    link.task(1, {{0, 0}});
    SimulationWorkspace workspace;
    const auto timeline = simulate(link.tasks, workspace);
    QVERIFY(!timeline);
    QCOMPARE(timeline.error().code, ErrorCode::Internal);
    QVERIFY(timeline.error().what.contains("stage 0: forward of micro-batch 0 waits for stage 0: forward of micro-batch 1"));
}

void TestEventLoop::resultsAreRepeatable()
{
    IterationCosts costs = even(program(ScheduleKind::OneFOneB, 4, 10), {1003, 2001, 0});
    for (const int q : {0, 1, 2}) {
        BoundaryTimes &boundary = wan(costs.classes[0], q, 1507 + q, 400);
        boundary.rateCap[0] = boundary.rateCap[1] = 1e9;
    }
    for (int c = 1; c < 4; ++c) {
        costs.classes.push_back(costs.classes[0]);
        costs.classes.back().ops.assign(4, {.forward = 900 + 31 * c, .backward = 2100 - 57 * c});
    }
    costs.linkCapacity = {2.3e9};
    const TaskGraph tasks = graph(costs);
    SimulationWorkspace workspace;
    const auto first = simulate(tasks, workspace), second = simulate(tasks, workspace);
    QVERIFY(first && second);
    QCOMPARE(first->start, second->start);
    QCOMPARE(first->end, second->end);
    QCOMPARE(first->cause, second->cause);
}

QTEST_APPLESS_MAIN(TestEventLoop)
#include "tst_event_loop.moc"
