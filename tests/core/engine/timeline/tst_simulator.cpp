// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/iteration/graph/pipelines.h"
#include "tests/support/test_program.h"

#include "core/engine/timeline/event_loop.h"

#include <functional>

using namespace pipelines;
using tasks::randomGraph;

namespace {

/// Longest path by recursion over predecessors and the resource's previous task.
std::vector<Nanoseconds> longestPaths(const TaskGraph &graph)
{
    std::vector<Nanoseconds> ends(graph.taskCount(), -1);
    const auto durationOf = [&](std::uint32_t task) { return graph.table.durations[graph.taskClass[task]]; };
    std::function<Nanoseconds(std::uint32_t)> endOf = [&](std::uint32_t task) {
        if (ends[task] >= 0)
            return ends[task];
        Nanoseconds start = 0;
        if (task > graph.resources[graph.resource[task]].track.first)
            start = endOf(task - 1);
        for (std::uint32_t i = graph.predBegin[task]; i < graph.predBegin[task + 1]; ++i) {
            const bool isFromStart = (graph.lag[i] & TaskGraph::kFromStart) != 0;
            const Nanoseconds moment = endOf(graph.pred[i]) - (isFromStart ? durationOf(graph.pred[i]) : 0);
            start = std::max(start, moment + graph.table.lags[graph.lag[i] & ~TaskGraph::kFromStart]);
        }
        return ends[task] = start + durationOf(task);
    };
    for (std::uint32_t task = 0; task < graph.taskCount(); ++task)
        endOf(task);
    return ends;
}

/// The same graph with time running backwards.
TaskGraph reversed(const TaskGraph &tasks)
{
    TaskGraph back = tasks;
    const auto total = static_cast<std::uint32_t>(tasks.taskCount());
    std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> preds(total);
    for (std::uint32_t task = 0; task < total; ++task) {
        back.taskClass[total - 1 - task] = tasks.taskClass[task];
        back.resource[total - 1 - task] = static_cast<std::uint32_t>(tasks.resources.size()) - 1 - tasks.resource[task];
        for (std::uint32_t i = tasks.predBegin[task]; i < tasks.predBegin[task + 1]; ++i)
            preds[total - 1 - tasks.pred[i]].emplace_back(total - 1 - task, tasks.lag[i]);
    }
    for (std::size_t r = 0; r < tasks.resources.size(); ++r) {
        const Track &from = tasks.resources[tasks.resources.size() - 1 - r].track;
        back.resources[r].track.first = total - from.last;
        back.resources[r].track.last = total - from.first;
    }
    back.pred.clear();
    back.lag.clear();
    back.predBegin.clear();
    for (const auto &list : preds) {
        back.predBegin.push_back(static_cast<std::uint32_t>(back.pred.size()));
        for (const auto &[pred, lag] : list) {
            back.pred.push_back(pred);
            back.lag.push_back(lag);
        }
    }
    back.predBegin.push_back(static_cast<std::uint32_t>(back.pred.size()));
    if (!sortTopologically(back))
        qFatal("reversal made a circle");
    return back;
}

Timeline runByEvents(const TaskGraph &tasks)
{
    SimulationWorkspace workspace;
    Timeline timeline;
    prepareTimeline(timeline, tasks);
    if (const auto ran = runEvents(tasks, workspace, timeline, {}); !ran)
        qFatal("%s", toString(ran.error()).c_str());
    finishTimeline(timeline, tasks);
    return timeline;
}

void compareSpans(const Timeline &a, const Timeline &b)
{
    QCOMPARE(a.start, b.start);
    QCOMPARE(a.end, b.end);
    QCOMPARE(a.cause, b.cause);
    QCOMPARE(a.duration, b.duration);
}

} // namespace

class TestSimulator : public QObject {
    Q_OBJECT
private slots:
    void spansEndWhereTheLongestPathEnds();
    void theCauseSetsTheStart();
    void timeMayRunBackwards();
    void aLongerTaskOrLagNeverShortens();
    void bothEnginesGiveTheSameSpans();
    void bothEnginesAgreeOnPipelinesOverTheWan_data();
    void bothEnginesAgreeOnPipelinesOverTheWan();
    void aTimelineCanBeUsedAgain();
    void cancellingStops();
    void anEmptyGraphTakesNoTime();
};

void TestSimulator::spansEndWhereTheLongestPathEnds()
{
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        const TaskGraph tasks = randomGraph(random, 1 + round % 6, 1 + round % 17, round % 2 == 1);
        QCOMPARE(run(tasks).end, longestPaths(tasks));
    }
}

void TestSimulator::theCauseSetsTheStart()
{
    std::mt19937 random(2);
    for (int round = 0; round < 100; ++round) {
        const TaskGraph tasks = randomGraph(random, 5, 12);
        const Timeline timeline = run(tasks);
        for (std::uint32_t span = 0; span < timeline.spanCount(); ++span) {
            const std::uint32_t cause = timeline.cause[span];
            bool isExplained = cause == kNoSpan ? timeline.start[span] == 0
                                                : cause + 1 == span && timeline.start[span] == timeline.end[cause];
            for (std::uint32_t i = tasks.predBegin[span]; i < tasks.predBegin[span + 1]; ++i)
                isExplained = isExplained
                    || (tasks.pred[i] == cause
                        && timeline.start[span] == timeline.end[cause] + tasks.table.lags[tasks.lag[i]]);
            QVERIFY(isExplained);
        }
    }
}

void TestSimulator::timeMayRunBackwards()
{
    std::mt19937 random(3);
    for (int round = 0; round < 100; ++round) {
        const TaskGraph tasks = randomGraph(random, 4, 10);
        QCOMPARE(run(reversed(tasks)).duration, run(tasks).duration);
    }
}

void TestSimulator::aLongerTaskOrLagNeverShortens()
{
    std::mt19937 random(4);
    for (int round = 0; round < 100; ++round) {
        TaskGraph tasks = randomGraph(random, 4, 10);
        const Timeline before = run(tasks);
        (round % 2 == 0 ? tasks.table.durations[random() % 40]
                        : tasks.table.lags[random() % tasks.table.lags.size()]) += 5;
        const Timeline after = run(tasks);
        for (std::size_t span = 0; span < before.spanCount(); ++span)
            QVERIFY(after.end[span] >= before.end[span]);
    }
}

void TestSimulator::bothEnginesGiveTheSameSpans()
{
    std::mt19937 random(5);
    for (int round = 0; round < 100; ++round) {
        const TaskGraph tasks = randomGraph(random, 1 + round % 7, 1 + round % 23, round % 2 == 1);
        compareSpans(runByEvents(tasks), run(tasks));
    }
}

void TestSimulator::bothEnginesAgreeOnPipelinesOverTheWan_data()
{
    QTest::addColumn<ScheduleKind>("kind");
    QTest::addColumn<int>("chunks");
    QTest::newRow("gpipe") << ScheduleKind::GPipe << 1;
    QTest::newRow("1f1b") << ScheduleKind::OneFOneB << 1;
    QTest::newRow("interleaved") << ScheduleKind::Interleaved << 2;
    QTest::newRow("breadth-first") << ScheduleKind::BreadthFirst << 3;
}

void TestSimulator::bothEnginesAgreeOnPipelinesOverTheWan()
{
    QFETCH(ScheduleKind, kind);
    QFETCH(int, chunks);
    IterationCosts costs = even(program(kind, 4, 12, chunks), { 1'000'003, 2'037'101, 501 });
    for (int c = 0; c < chunks; ++c) {
        BoundaryTimes &boundary = wan(costs.classes[0], 4 * c + 1, 1'811'777, 203'461);
        boundary.bytes[0] = boundary.bytes[1] = 1e6;
        boundary.rateCap[0] = boundary.rateCap[1] = 6e8;
        boundary.linkDirection[1] = 1;
    }
    costs.classes[0].syncAndStep.assign(
        4, { .reduce = 5'000'000, .reduceEarly = 3'000'000, .optimizer = 70'000, .gather = 900'000 });
    costs.classes[0].pipelines = 3;
    costs.overhead = 17;
    costs.optimizerBarrier = true;
    costs.classes.push_back(costs.classes[0]);
    costs.linkCapacity = { 3.6e9, 3.6e9 }; // 2 classes x 3 pipelines x 6e8: just enough
    const TaskGraph tasks = graph(costs);
    QVERIFY(!needsEvents(tasks));
    compareSpans(runByEvents(tasks), run(tasks));
}

void TestSimulator::aTimelineCanBeUsedAgain()
{
    const TaskGraph large = graph(even(program(ScheduleKind::OneFOneB, 4, 16), { 3, 5, 1 }));
    IterationCosts wide = even(program(ScheduleKind::GPipe, 2, 3), { 3, 5, 1 });
    wan(wide.classes[0], 0, 4, 2);
    const TaskGraph small = graph(wide);
    SimulationWorkspace workspace;
    Timeline timeline;
    for (const TaskGraph *tasks : { &large, &small, &large }) {
        QVERIFY(simulateInto(timeline, *tasks, workspace).has_value());
        const Timeline fresh = run(*tasks);
        compareSpans(timeline, fresh);
        QCOMPARE(timeline.trackOf, fresh.trackOf);
        QCOMPARE(timeline.origin, fresh.origin);
        QCOMPARE(timeline.tracks.size(), fresh.tracks.size());
    }
}

void TestSimulator::cancellingStops()
{
    const TaskGraph tasks = graph(even(program(ScheduleKind::OneFOneB, 4, 16), { 3, 5, 1 }));
    std::stop_source source;
    source.request_stop();
    SimulationWorkspace workspace;
    const auto timeline = simulate(tasks, workspace, source.get_token());
    QVERIFY(!timeline);
    QCOMPARE(timeline.error().code, ErrorCode::Cancelled);
}

void TestSimulator::anEmptyGraphTakesNoTime()
{
    TaskGraph tasks;
    tasks.predBegin = { 0 };
    const Timeline timeline = run(tasks);
    QVERIFY(timeline.isEmpty());
    QCOMPARE(timeline.duration, Nanoseconds { 0 });
}

TRAINYARD_APPLESS_TEST(TestSimulator)
#include "tst_simulator.moc"
