// SPDX-License-Identifier: GPL-3.0-or-later
// Shared links and resources that choose.
#include "core/iteration/graph/forward_policies.h"
#include "tests/core/iteration/graph/pipelines.h"
#include "tests/support/test_program.h"

using namespace pipelines;
using tasks::Tasks;

namespace {

/// The first resource serves task 0 until 10, with task 1 waiting; task 2, more urgent, arrives at that instant. Tasks
/// 3 and 4 run on a second one, 4 right after 3, from 9 to 10.
Timeline urgentArrivalAtTheEndOfAnother(Discipline discipline)
{
    Tasks link;
    link.resource(discipline);
    link.task(10, {}, 0);
    link.task(10, {}, 5);
    link.task(10, { { 4 } }, 1);
    link.resource();
    link.task(9);
    link.task(1);
    return run(link.graph());
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
    void aFlowMayTakeMoreOfALinkThanItsRate();
    void aHoldTakesItsPartHoweverSlowItsFlowIs();
    void aHoldIsTakenOnceHoweverManyFlowsNameIt();
    void whereTakesAndHoldsFitTheSinglePassDoes();
    void aLinkWithoutCapacityIsNamed();
    void aCircleIsNamed();
    void resultsAreRepeatable();
};

void TestEventLoop::aloneAFlowRunsAtItsCap()
{
    Tasks link;
    link.resource();
    link.flow(1000);
    QVERIFY(!needsEvents(link.graph()));
    QCOMPARE(run(link.graph()).duration, Nanoseconds { 100 });
}

void TestEventLoop::twoFlowsShareALinkEvenly()
{
    // 1000 and 600 bytes over 10 bytes/ns. Together 5 each until 600 are through at 120; then 400 left at 10: 160.
    Tasks link;
    link.resource();
    link.flow(1000);
    link.resource();
    link.flow(600);
    QVERIFY(needsEvents(link.graph()));
    const Timeline timeline = run(link.graph());
    QCOMPARE(timeline.end, (std::vector<Nanoseconds> { 160, 120 }));
}

void TestEventLoop::aLateFlowSlowsTheFirst()
{
    // The second begins at 40: the first has 600 left, both run at 5: 400 are through at 120; the last 200 at 10: 140.
    Tasks link;
    link.resource();
    link.flow(1000);
    link.resource();
    const std::uint32_t wait = link.task(40);
    link.resource();
    link.flow(400, { { wait } });
    const Timeline timeline = run(link.graph());
    QCOMPARE(timeline.end, (std::vector<Nanoseconds> { 140, 40, 120 }));
}

void TestEventLoop::aFlowThatStandsForSeveralTakesTheirShares()
{
    // Three equal flows and one: 2.5 bytes/ns each. 250 bytes take 100.
    Tasks link;
    link.resource();
    link.flow(250, {}, 3);
    link.resource();
    link.flow(250);
    QCOMPARE(run(link.graph()).end, (std::vector<Nanoseconds> { 100, 100 }));
}

void TestEventLoop::latencyDoesNotHoldTheChannel()
{
    Tasks link;
    link.resource();
    const std::uint32_t first = link.flow(1000);
    link.flow(1000);
    link.resource();
    link.task(10, { { first, 500 } });
    link.resource();
    link.flow(4000);
    const Timeline timeline = run(link.graph());
    QCOMPARE(timeline.end[0], Nanoseconds { 200 });
    QCOMPARE(timeline.start[1], Nanoseconds { 200 });
    QCOMPARE(timeline.start[2], Nanoseconds { 700 });
}

void TestEventLoop::aFreeResourceTakesTheMostUrgentOfThoseThatHaveArrived()
{
    Tasks link;
    link.resource(Discipline::Priority);
    link.task(10, {}, 3);
    link.task(10, {}, 1);
    link.task(10, {}, 2);
    const Timeline timeline = run(link.graph());
    QCOMPARE(timeline.microBatch, (std::vector<std::int32_t> { 1, 2, 0 }));
    QCOMPARE(timeline.duration, Nanoseconds { 30 });
}

void TestEventLoop::aFreedResourceChoosesBeforeTheArrivalsOfThatInstant()
{
    // Task 2 is more urgent, but arrives at the instant at which the first ends: task 1 has been there before.
    const Timeline timeline = urgentArrivalAtTheEndOfAnother(Discipline::Priority);
    QCOMPARE(timeline.microBatch, (std::vector<std::int32_t> { 0, 1, 2, 3, 4 }));
    QCOMPARE(timeline.start, (std::vector<Nanoseconds> { 0, 10, 20, 0, 9 }));
}

void TestEventLoop::whatGivesTurnsChoosesAfterTheArrivalsOfThatInstant()
{
    // Task 2 is more urgent and arrives at the instant at which the first ends: task 1 lets it go first.
    const Timeline timeline = urgentArrivalAtTheEndOfAnother(Discipline::Turns);
    QCOMPARE(timeline.microBatch, (std::vector<std::int32_t> { 0, 2, 1, 3, 4 }));
    QCOMPARE(timeline.start, (std::vector<Nanoseconds> { 0, 10, 20, 0, 9 }));
}

void TestEventLoop::whatGivesTurnsWaitsForChainsThatTakeNoTime()
{
    // A stage ends at 10; a scatter without duration, a task with a latency of nothing, and task 2 follow at the same
    // instant.
    Tasks link;
    link.resource(Discipline::Turns);
    link.task(10, {}, 0);
    link.task(10, {}, 5);
    link.task(10, { { 5 } }, 1);
    link.resource(Discipline::ByPolicy, Stream::Compute, forwardPolicy(OrderRule::WorkConserving));
    link.task(10);
    link.resource();
    link.task(0, { { 3 } });
    link.resource(Discipline::Priority);
    link.task(0, { { 4 } });
    QCOMPARE(run(link.graph()).microBatch, (std::vector<std::int32_t> { 0, 2, 1, 3, 4, 5 }));
}

void TestEventLoop::whatGivesTurnsWaitsForChoicesThatTakeNoTime()
{
    // At 10 the second resource is freed and takes task 4, which had waited; the third, still free, takes what follows
    // from that; only then task 2 is there.
    Tasks link;
    link.resource(Discipline::Turns);
    link.task(10, {}, 0);
    link.task(10, {}, 5);
    link.task(10, { { 5 } }, 1);
    link.resource(Discipline::Priority);
    link.task(10, {}, 0);
    link.task(0, {}, 1);
    link.resource(Discipline::Priority);
    link.task(0, { { 4 } });
    const Timeline timeline = run(link.graph());
    QCOMPARE(timeline.microBatch, (std::vector<std::int32_t> { 0, 2, 1, 3, 4, 5 }));
    QCOMPARE(timeline.start, (std::vector<Nanoseconds> { 0, 10, 20, 0, 10, 10 }));
}

void TestEventLoop::whatGivesTurnsWaitsForFlowsThatEndAtThatInstant()
{
    // Two flows share the link and end at 20, which is known no sooner than then; each lets a transfer of the other's
    // channel go.
    Tasks link;
    std::uint32_t first[2] = { 0, 3 };
    for (int channel = 0; channel < 2; ++channel) {
        link.resource(Discipline::Turns);
        link.flow(100);
        link.flow(100, {}, 1, 5);
        link.flow(100, { { first[1 - channel] } }, 1, 1);
    }
    const Timeline timeline = run(link.graph());
    QCOMPARE(timeline.microBatch, (std::vector<std::int32_t> { 0, 2, 1, 3, 5, 4 }));
    QCOMPARE(timeline.end, (std::vector<Nanoseconds> { 20, 40, 60, 20, 40, 60 }));
}

void TestEventLoop::anIdleResourceChoosesAmongTheArrivalsOfOneInstant()
{
    Tasks link;
    link.resource(Discipline::Priority);
    link.task(10, { { 2 } }, 5);
    link.task(10, { { 2 } }, 1);
    link.resource();
    link.task(7);
    const Timeline timeline = run(link.graph());
    QCOMPARE(timeline.microBatch, (std::vector<std::int32_t> { 1, 0, 2 }));
}

void TestEventLoop::spansOfAChoosingResourceAreInOrderOfStart()
{
    std::mt19937 random(9);
    Tasks link;
    link.resource(Discipline::Priority);
    for (std::uint32_t i = 0; i < 50; ++i)
        link.task(static_cast<Nanoseconds>(random() % 20), { { 50 + i, 0 } }, static_cast<std::int64_t>(random() % 7));
    link.resource(Discipline::Priority);
    for (int i = 0; i < 50; ++i)
        link.task(static_cast<Nanoseconds>(random() % 20), {}, static_cast<std::int64_t>(random() % 7));
    const Timeline timeline = run(link.graph());
    for (const Track &track : timeline.tracks)
        for (std::uint32_t span = track.first + 1; span < track.last; ++span)
            QVERIFY(timeline.start[span] >= timeline.end[span - 1]);
    for (std::uint32_t span = 0; span < 100; ++span)
        if (timeline.cause[span] != kNoSpan)
            QCOMPARE(timeline.start[span], timeline.end[timeline.cause[span]]);
}

void TestEventLoop::aChannelMayChooseItsFlows()
{
    Tasks link;
    link.resource(Discipline::Priority);
    for (const std::int64_t priority : { 9, 2, 4 })
        link.flow(100, {}, 1, priority);
    const Timeline timeline = run(link.graph());
    QCOMPARE(timeline.microBatch, (std::vector<std::int32_t> { 1, 2, 0 }));
    QCOMPARE(timeline.end, (std::vector<Nanoseconds> { 10, 20, 30 }));
}

void TestEventLoop::spatialSharingOfAFullLinkIsTheSlowerLink()
{
    // Three equal pipelines on a link that carries half of what they ask: as if every transfer took twice as long.
    IterationCosts costs = even(program(ScheduleKind::OneFOneB, 4, 10), { 100, 200, 0 });
    BoundaryTimes &boundary = wan(costs.classes[0], 1, 150, 40);
    boundary.bytes[0] = boundary.bytes[1] = 150;
    boundary.rateCap[0] = boundary.rateCap[1] = 1e9;
    boundary.linkDirection[1] = 1;
    costs.classes[0].pipelines = 3;
    costs.linkCapacity = { 1.5e9, 1.5e9 };
    QVERIFY(needsEvents(graph(costs)));
    const Timeline shared = run(costs);
    costs.linkCapacity.clear();
    wan(costs.classes[0], 1, 300, 40);
    const Timeline slower = run(costs);
    QCOMPARE(shared.start, slower.start);
    QCOMPARE(shared.end, slower.end);
}

void TestEventLoop::aFlowMayTakeMoreOfALinkThanItsRate()
{
    // The second flow takes 3 of the link for each of its bytes: 3 r + r = 10 bytes/ns, so both run at 2.5 until the
    // first 500 are through at 200; then 10 / 3. Of 1000 bytes 500 are left, 150 ns.
    Tasks link;
    link.resource();
    link.flow(500);
    link.resource();
    link.flow(1000);
    link.table.flows[1].takes = { 3 };
    link.table.flows[1].rateCap = 10e9 / 3;
    link.table.durations[1] = 300;
    const TaskGraph graph = link.graph();
    QVERIFY(needsEvents(graph));
    QCOMPARE(run(graph).end, (std::vector<Nanoseconds> { 200, 350 }));
    // Alone it takes all of the link and no more.
    Tasks alone;
    alone.resource();
    alone.flow(1000);
    alone.table.flows[0].takes = { 3 };
    alone.table.flows[0].rateCap = 10e9 / 3;
    alone.table.durations[0] = 300;
    QVERIFY(!needsEvents(alone.graph()));
    QCOMPARE(run(alone.graph()).end, std::vector<Nanoseconds> { 300 });
}

void TestEventLoop::aHoldTakesItsPartHoweverSlowItsFlowIs()
{
    // Two flows on link 0, at half speed for 200 ns; the first holds 4 of link 1's 10 all the while. What runs there
    // has done 6 / 10 x 200 of its 300 by then: 380.
    Tasks link;
    link.table.linkCapacity.push_back(10e9);
    link.table.holds.push_back({ 1, 4e9 });
    link.resource();
    link.flow(1000);
    link.table.flows[0].hold = 0;
    link.resource();
    link.flow(1000);
    link.resource();
    link.flow(3000);
    link.table.flows[2].links = { 1 };
    const TaskGraph graph = link.graph();
    QVERIFY(needsEvents(graph));
    QCOMPARE(run(graph).end, (std::vector<Nanoseconds> { 200, 200, 380 }));
}

void TestEventLoop::aHoldIsTakenOnceHoweverManyFlowsNameIt()
{
    // Flows from 0 to 100 and from 50 to 150 on links of their own hold 4 of link 0's 10 until 150; another one holds 3
    // of it from 100 to 200. 6 x 100 + 3 x 50 + 7 x 50 = 1100 of 3000 bytes by then, the others at 10 a nanosecond.
    Tasks link;
    link.table.linkCapacity = { 10e9, 10e9, 10e9, 10e9 };
    link.table.holds = { { 0, 4e9 }, { 0, 3e9 } };
    link.resource();
    link.flow(1000);
    link.resource();
    link.task(50);
    link.flow(1000, { { 1 } });
    link.resource();
    link.task(100);
    link.flow(1000, { { 3 } });
    link.resource();
    link.flow(3000);
    for (const std::uint32_t flow : { 0, 1, 2 }) {
        link.table.flows[flow].links = { flow + 1 };
        link.table.flows[flow].hold = flow == 2 ? 1 : 0;
    }
    const Timeline timeline = run(link.graph());
    QCOMPARE(timeline.end.back(), Nanoseconds { 390 });
}

void TestEventLoop::whereTakesAndHoldsFitTheSinglePassDoes()
{
    Tasks link;
    link.table.holds.push_back({ 0, 4e9 });
    link.resource();
    link.flow(1000);
    link.table.flows[0].takes = { 0.6 };
    link.table.flows[0].hold = 0;
    QVERIFY(!needsEvents(link.graph()));
    link.table.holds[0].amount = 4.1e9;
    QVERIFY(needsEvents(link.graph()));
}

void TestEventLoop::aLinkWithoutCapacityIsNamed()
{
    Tasks link;
    link.table.linkCapacity = { 0 };
    link.resource();
    link.flow(100);
    SimulationWorkspace workspace;
    const auto timeline = simulate(link.graph(), workspace);
    QVERIFY(!timeline);
    QVERIFY(timeline.error().what.contains("gets no bandwidth"));
}

void TestEventLoop::aCircleIsNamed()
{
    Tasks link;
    link.resource(Discipline::Priority);
    link.task(1, { { 1 } });
    link.task(1, { { 0 } });
    SimulationWorkspace workspace;
    const auto timeline = simulate(link.graph(), workspace);
    QVERIFY(!timeline);
    QCOMPARE(timeline.error().code, ErrorCode::Internal);
    QVERIFY(timeline.error().what.contains(
        "stage 0: forward of micro-batch 0 waits for stage 0: forward of micro-batch 1"));
}

void TestEventLoop::resultsAreRepeatable()
{
    IterationCosts costs = even(program(ScheduleKind::OneFOneB, 4, 10), { 1003, 2001, 0 });
    for (const int q : { 0, 1, 2 }) {
        BoundaryTimes &boundary = wan(costs.classes[0], q, 1507 + q, 400);
        boundary.rateCap[0] = boundary.rateCap[1] = 1e9;
    }
    for (int c = 1; c < 4; ++c) {
        costs.classes.push_back(costs.classes[0]);
        costs.classes.back().ops.assign(4, { .forward = 900 + 31 * c, .backward = 2100 - 57 * c });
    }
    costs.linkCapacity = { 2.3e9 };
    const TaskGraph tasks = graph(costs);
    SimulationWorkspace workspace;
    const auto first = simulate(tasks, workspace), second = simulate(tasks, workspace);
    QVERIFY(first && second);
    QCOMPARE(first->start, second->start);
    QCOMPARE(first->end, second->end);
    QCOMPARE(first->cause, second->cause);
}

TRAINYARD_APPLESS_TEST(TestEventLoop)
#include "tst_event_loop.moc"
