// SPDX-License-Identifier: GPL-3.0-or-later
// What every turn on a cell's channel has to obey, read off the result: whatever the schedule, the times and the links,
// and with scatters, latencies and operations that take no time, so that much happens at one instant.
#include "core/engine/timeline/event_loop.h"
#include "tests/core/iteration/graph/pipelines.h"
#include "tests/support/test_program.h"

using namespace pipelines;

namespace {

constexpr ScheduleKind kSchedules[] = { ScheduleKind::Atlas, ScheduleKind::GPipe, ScheduleKind::OneFOneB,
    ScheduleKind::Varuna };

/// One cell; its last lane has a micro-batch less.
IterationCosts randomCell(std::mt19937 &random)
{
    const auto whole = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
    const ScheduleKind schedule = kSchedules[whole(0, 3)];
    const int devices = whole(2, 6), microBatches = whole(2, 12), lanes = whole(2, 5);
    const int recompute = whole(0, 2);
    const OpTimes times { .forward = whole(0, 3), .backward = recompute + whole(0, 4), .recompute = recompute };
    const Nanoseconds serialization = whole(1, 4), latency = whole(0, 3), scatter = whole(0, 2), gather = whole(0, 2);
    const bool isShared = whole(0, 2) == 0; // channels of several boundaries over one link that is too narrow for them
    IterationCosts costs;
    for (int k = 0; k < lanes; ++k) {
        PipelineCosts lane =
            even(program(schedule, devices, microBatches - (k + 1 == lanes ? 1 : 0)), {}).classes.front();
        lane.ops.assign(lane.ops.size(), times);
        lane.cellMember = k;
        lane.cellMembers = lanes;
        for (int q = 0; q + 1 < devices; ++q) {
            if (q % 2 == 1)
                continue;
            BoundaryTimes &boundary = wan(lane, q, serialization, latency);
            for (int direction = 0; direction < 2; ++direction) {
                boundary.scatter[direction] = scatter;
                boundary.gather[direction] = gather;
                boundary.bytes[direction] = static_cast<double>(serialization);
                boundary.rateCap[direction] = 1e9;
                boundary.linkDirection[direction] = direction;
            }
        }
        costs.classes.push_back(std::move(lane));
    }
    costs.turns = whole(0, 3) == 0 ? TurnOrder::DrainFirst : TurnOrder::RoundRobin;
    if (isShared)
        costs.linkCapacity = { 1.5e9, 1.5e9 };
    return costs;
}

/// With the spans in the order of their tasks.
Timeline timesOf(const TaskGraph &tasks)
{
    SimulationWorkspace workspace;
    Timeline timeline;
    prepareTimeline(timeline, tasks);
    if (const auto ran = runEvents(tasks, workspace, timeline, {}); !ran)
        qFatal("%s", toString(ran.error()).c_str());
    return timeline;
}

Nanoseconds readyAt(const TaskGraph &tasks, const Timeline &timeline, std::uint32_t task)
{
    Nanoseconds ready = 0;
    for (std::uint32_t i = tasks.predBegin[task]; i < tasks.predBegin[task + 1]; ++i)
        ready = std::max(ready, timeline.end[tasks.pred[i]] + tasks.table.lags[tasks.lag[i]]);
    return ready;
}

/// The transfers of a channel as it served them.
std::vector<std::uint32_t> served(const Timeline &timeline, const Track &track)
{
    std::vector<std::uint32_t> transfers;
    for (std::uint32_t task = track.first; task < track.last; ++task)
        transfers.push_back(task);
    std::ranges::sort(transfers, {}, [&](std::uint32_t task) { return timeline.start[task]; });
    return transfers;
}

/// Calls check(graph, timeline, track) for each channel of 300 cells.
template <class Check> void forEachChannel(Check check)
{
    std::mt19937 random(5);
    for (int i = 0; i < 300; ++i) {
        const TaskGraph tasks = graph(randomCell(random));
        const Timeline timeline = timesOf(tasks);
        for (const Resource &resource : tasks.resources)
            if (resource.discipline == Discipline::Turns)
                check(tasks, timeline, resource.track);
    }
}

} // namespace

class TestTurns : public QObject {
    Q_OBJECT
private slots:
    // start(a) < start(b) although b goes first: then b was not ready at start(a), not even at that very instant.
    void noTransferStartsBeforeAMoreUrgentOneThatIsReady()
    {
        int atOneInstant = 0;
        forEachChannel([&](const TaskGraph &tasks, const Timeline &timeline, const Track &track) {
            const std::vector<std::uint32_t> transfers = served(timeline, track);
            for (std::size_t a = 0; a < transfers.size(); ++a)
                for (std::size_t b = a + 1; b < transfers.size(); ++b) {
                    if (tasks.priority[transfers[b]] < tasks.priority[transfers[a]])
                        QVERIFY(readyAt(tasks, timeline, transfers[b]) > timeline.start[transfers[a]]);
                    atOneInstant += b == a + 1 && readyAt(tasks, timeline, transfers[b]) == timeline.end[transfers[a]];
                }
        });
        QVERIFY(atOneInstant > 1000); // ready as the channel is freed
    }

    // start = max(ready, end of the turn before).
    void aChannelNeverRestsWhileATransferIsReady()
    {
        forEachChannel([](const TaskGraph &tasks, const Timeline &timeline, const Track &track) {
            Nanoseconds free = 0;
            for (const std::uint32_t transfer : served(timeline, track)) {
                QCOMPARE(timeline.start[transfer], std::max(free, readyAt(tasks, timeline, transfer)));
                free = timeline.end[transfer];
            }
        });
    }

    // Turns go by micro-batch, then lane, wherever the sender makes what it sends in the order of micro-batches:
    // activations always, gradients unless the schedule goes back from the last (gpipe).
    void turnsGoByMicroBatchThenLane()
    {
        for (const ScheduleKind schedule : kSchedules) {
            IterationCosts costs = even(program(schedule, 2, 5), { 3, 5, 0 });
            wan(costs.classes[0], 0, 2, 1);
            costs.classes[0].cellMembers = 3;
            for (int k = 1; k < 3; ++k) {
                costs.classes.push_back(costs.classes[0]);
                costs.classes.back().cellMember = k;
            }
            const TaskGraph tasks = graph(costs);
            for (const Resource &resource : tasks.resources)
                for (std::uint32_t task = resource.track.first;
                     resource.discipline == Discipline::Turns && task < resource.track.last; ++task) {
                    const bool isReversed =
                        schedule == ScheduleKind::GPipe && resource.track.toStage < resource.track.stage;
                    const int place = isReversed ? 4 - tasks.microBatch[task] : tasks.microBatch[task];
                    const auto lane = static_cast<std::int64_t>(task - resource.track.first) / 5;
                    QCOMPARE(tasks.priority[task], place * 3 + lane);
                }
        }
    }
};

TRAINYARD_APPLESS_TEST(TestTurns)
#include "tst_turns.moc"
