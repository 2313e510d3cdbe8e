// SPDX-License-Identifier: GPL-3.0-or-later
// Graphs that are appended: the order of appending decides nothing but the order on a resource, and what is said of a
// task stays with it wherever finish() puts it.
#include "core/engine/timeline/event_loop.h"
#include "tests/core/engine/timeline/tasks.h"
#include "tests/support/test_program.h"

#include <bit>
#include <cmath>
#include <set>
#include <utility>

using namespace tasks;

namespace {

using Order = std::vector<std::uint32_t>;

/// An order of appending that keeps the order on every resource.
Order anyOrder(std::mt19937 &random, const Tasks &of)
{
    std::vector<Order> left(of.resources.size());
    for (std::uint32_t task = 0; task < of.list.size(); ++task)
        left[of.list[task].resource].push_back(task);
    Order order;
    std::vector<std::size_t> next(left.size());
    while (order.size() < of.list.size())
        if (const std::size_t r = random() % left.size(); next[r] < left[r].size())
            order.push_back(left[r][next[r]++]);
    return order;
}

Timeline byEvents(const TaskGraph &graph)
{
    SimulationWorkspace workspace;
    Timeline timeline;
    prepareTimeline(timeline, graph);
    if (const auto ran = runEvents(graph, workspace, timeline, {}); !ran)
        qFatal("%s", toString(ran.error()).c_str());
    finishTimeline(timeline, graph);
    return timeline;
}

Nanoseconds durationOf(const Tasks &of, std::uint32_t task)
{
    return of.table.durations[of.list[task].taskClass];
}

/// A store of 100 bytes in 100 ns, behind another of as long where `isQueued`; its load, just as long, is asked for at
/// `asked`. On resources 0 and 1.
struct StoreAndLoad {
    std::uint32_t store = 0, load = 0;
    Timeline timeline;

    StoreAndLoad(Nanoseconds asked, bool isQueued = false)
    {
        ClassTable table;
        table.clear();
        const std::uint32_t move = table.add(WorkKind::OffloadStore, 100, 100),
                            back = table.add(WorkKind::OffloadLoad, 100, 100);
        const std::uint32_t wait = table.add(WorkKind::Forward, asked);
        GraphBuilder builder(std::move(table));
        const auto stores = builder.resource({ .stream = Stream::Store }, Discipline::Priority),
                   loads = builder.resource({ .stream = Stream::Load }, Discipline::Priority);
        const auto first = builder.resource({ .stage = 0 });
        if (isQueued)
            builder.setPriority(builder.task(stores, move), -1);
        store = builder.task(stores, move);
        const auto ask = builder.task(first, wait);
        load = builder.task(loads, back);
        builder.after(load, ask);
        builder.overtake(load, store);
        const auto graph = std::move(builder).finish();
        if (!graph)
            qFatal("%s", toString(graph.error()).c_str());
        timeline = run(*graph);
        store = timeline.tracks[0].last - 1;
        load = timeline.tracks[1].first;
    }
};

} // namespace

class TestGraphBuilder : public QObject {
    Q_OBJECT
private slots:
    // graph(any order that keeps those on the resources) = graph(resource by resource), and so are its spans.
    void theOrderOfAppendingDecidesNothing()
    {
        std::mt19937 random(31);
        for (int round = 0; round < 200; ++round) {
            const Tasks list = randomTasks(random, 1 + round % 6, 1 + round % 15, round % 2 == 1);
            const TaskGraph plain = list.graph(), mixed = list.graph(anyOrder(random, list));
            QCOMPARE(mixed.resource, plain.resource);
            QCOMPARE(mixed.taskClass, plain.taskClass);
            QCOMPARE(mixed.microBatch, plain.microBatch);
            QCOMPARE(mixed.predBegin, plain.predBegin);
            QCOMPARE(mixed.pred, plain.pred);
            QCOMPARE(mixed.lag, plain.lag);
            const Timeline a = run(mixed), b = run(plain);
            QCOMPARE(a.start, b.start);
            QCOMPARE(a.end, b.end);
            QCOMPARE(a.cause, b.cause);
        }
    }

    void norWhereResourcesChoose()
    {
        std::mt19937 random(32);
        for (int round = 0; round < 200; ++round) {
            Tasks list = randomTasks(random, 1 + round % 6, 1 + round % 15, round % 2 == 1);
            for (Tasks::On &resource : list.resources)
                resource.discipline =
                    std::array { Discipline::FixedOrder, Discipline::Priority, Discipline::Turns }[random() % 3];
            for (Tasks::Task &task : list.list)
                task.priority = static_cast<std::int64_t>(random() % 5) - 2;
            const TaskGraph plain = list.graph(), mixed = list.graph(anyOrder(random, list));
            QCOMPARE(mixed.priority, plain.priority);
            const Timeline a = run(mixed), b = run(plain);
            QCOMPARE(a.microBatch, b.microBatch);
            QCOMPARE(a.start, b.start);
            QCOMPARE(a.end, b.end);
        }
    }

    // start = max(end of the task before on the resource, over what it waits for: start or end + lag), in both engines.
    void aTaskWaitsForTheLatestOfStartsAndEnds()
    {
        std::mt19937 random(33);
        int bound = 0; // by the start of another
        for (int round = 0; round < 200; ++round) {
            const Tasks list = randomTasks(random, 2 + round % 5, 1 + round % 15, true);
            const TaskGraph graph = list.graph();
            for (const Timeline &timeline : { run(graph), byEvents(graph) })
                for (std::uint32_t task = 0; task < list.list.size(); ++task) {
                    const bool isFirst = task == timeline.tracks[list.list[task].resource].first;
                    const Nanoseconds free = isFirst ? 0 : timeline.end[task - 1];
                    Nanoseconds start = free;
                    for (const Tasks::Wait &wait : list.list[task].waits) {
                        const bool isFromStart = wait.from == Tasks::From::Start;
                        const Nanoseconds moment =
                            (isFromStart ? timeline.start : timeline.end)[wait.before] + wait.lag;
                        bound += isFromStart && moment > start;
                        start = std::max(start, moment);
                    }
                    QCOMPARE(timeline.start[task], start);
                    QCOMPARE(timeline.end[task], start + durationOf(list, task));
                }
        }
        QVERIFY(bound > 500);
    }

    // Two flows share 10 bytes/ns: 1000 bytes each, both end at 200. The third begins then; what waits for its start
    // does not wait for its end, which nobody knows yet: 200 + 13.
    void theStartOfAFlowIsKnownBeforeItsEnd()
    {
        Tasks list;
        list.resource();
        list.flow(1000);
        const std::uint32_t third = list.flow(1000);
        list.resource();
        list.flow(1000);
        list.resource();
        const std::uint32_t follower = list.task(7, { { third, 13, Tasks::From::Start } });
        const TaskGraph graph = list.graph();
        QVERIFY(needsEvents(graph));
        const Timeline timeline = run(graph);
        QCOMPARE(timeline.start[third], Nanoseconds { 200 });
        QCOMPARE(timeline.end[third], Nanoseconds { 300 });
        QCOMPARE(timeline.start[follower], Nanoseconds { 213 });
    }

    // Of a resource that chooses: the urgent task runs until 10, the other begins then, and its follower with it.
    void aFollowerBeginsWithWhatAResourceChose()
    {
        Tasks list;
        list.resource(Discipline::Priority);
        const std::uint32_t later = list.task(50, {}, 2);
        list.task(10, {}, 1);
        list.resource();
        list.task(3, { { later, 0, Tasks::From::Start } });
        const Timeline timeline = run(list.graph());
        QCOMPARE(timeline.start[timeline.tracks[1].first], Nanoseconds { 10 });
        QCOMPARE(timeline.cause[timeline.tracks[1].first], timeline.tracks[0].first + 1);
    }

    void nothingIsWaitedForWhereThereIsNothing()
    {
        ClassTable table;
        table.clear();
        const std::uint32_t work = table.add(WorkKind::Forward, 5);
        GraphBuilder builder(table);
        builder.after(builder.task(builder.resource({}), work), kNoSpan);
        const auto graph = std::move(builder).finish();
        QVERIFY(graph && graph->pred.empty());
        QCOMPARE(run(*graph).duration, Nanoseconds { 5 });
    }

    void aResourceWithoutTasksIsARowWithoutSpans()
    {
        Tasks list;
        list.resource();
        list.task(4);
        list.resource();
        list.resource();
        list.task(6);
        const Timeline timeline = run(list.graph());
        QCOMPARE(timeline.tracks.size(), std::size_t { 3 });
        QCOMPARE(timeline.tracks[1].first, timeline.tracks[1].last);
        QCOMPARE(timeline.end, (std::vector<Nanoseconds> { 4, 6 }));
    }

    // The load begins after the store has ended: both run.
    void aLoadThatComesLateBringsBackWhatHasLeft()
    {
        const StoreAndLoad late(150);
        QCOMPARE(late.timeline.end[late.store], Nanoseconds { 100 });
        QCOMPARE(late.timeline.start[late.load], Nanoseconds { 150 });
        QCOMPARE(late.timeline.end[late.load], Nanoseconds { 250 });
        QCOMPARE(late.timeline.isVoid, (std::vector<std::uint8_t> { 0, 0, 0 }));
        QCOMPARE(late.timeline.bytesMoved(late.store), 100.0);
        QCOMPARE(late.timeline.bytesMoved(late.load), 100.0);
    }

    // At 40 of 100 the load overtakes the store, which ends there: it has moved 40 of its bytes, the load none and
    // takes no time.
    void anOvertakenStoreEndsThere()
    {
        const StoreAndLoad early(40);
        QCOMPARE(early.timeline.end[early.store], Nanoseconds { 40 });
        QCOMPARE(early.timeline.end[early.load], Nanoseconds { 40 });
        QCOMPARE(early.timeline.start[early.load], Nanoseconds { 40 });
        QVERIFY(early.timeline.isVoid[early.store] != 0 && early.timeline.isVoid[early.load] != 0);
        QVERIFY(std::abs(early.timeline.bytesMoved(early.store) - 40) < 1e-9);
        QCOMPARE(early.timeline.bytesMoved(early.load), 0.0);
    }

    // Behind another until 100 and overtaken at 40: it never begins.
    void oneThatHasNotBegunIsDropped()
    {
        const StoreAndLoad early(40, true);
        QCOMPARE(early.timeline.start[early.store], Nanoseconds { 100 });
        QCOMPARE(early.timeline.end[early.store], Nanoseconds { 100 });
        QCOMPARE(early.timeline.bytesMoved(early.store), 0.0);
        QCOMPARE(early.timeline.duration, Nanoseconds { 100 });
    }

    // The carrier is appended before its resource's neighbours are, and still points at its result.
    void whatIsSaidOfATaskGoesWhereItGoes()
    {
        ClassTable table;
        table.clear();
        const std::uint32_t sends = table.add(WorkKind::WanTransfer, 5, 70), computes = table.add(WorkKind::Forward, 9),
                            both = table.add(WorkKind::ForwardBackward, 4);
        GraphBuilder builder(table);
        const auto stage = builder.resource({ .stage = 2 }),
                   channel = builder.resource({ .stream = Stream::Wan, .stage = 2, .toStage = 3 });
        const auto transfer = builder.task(channel, sends, { 6, 1, false });
        builder.task(stage, computes, { 5, 0, false });
        const auto result = builder.task(stage, computes, { 6, 1, false });
        builder.pair(builder.task(stage, both, { 7, 0, false }), 4, 1);
        builder.carry(transfer, result);
        const auto graph = std::move(builder).finish(77);
        QVERIFY(graph.has_value());
        QCOMPARE(graph->fingerprint, std::uint64_t { 77 });
        const Timeline timeline = run(*graph);
        QCOMPARE(timeline.microBatch, (std::vector<std::int32_t> { 5, 6, 7, 6 }));
        QCOMPARE(timeline.chunk, (std::vector<std::uint16_t> { 0, 1, 0, 1 }));
        QCOMPARE(timeline.origin, (std::vector<std::uint32_t> { kNoSpan, kNoSpan, kNoSpan, 1 }));
        QCOMPARE(timeline.pairedMicroBatch, (std::vector<std::int32_t> { -1, -1, 4, -1 }));
        QCOMPARE(timeline.pairedChunk[2], std::uint16_t { 1 });
        QCOMPARE(timeline.start[3], Nanoseconds { 18 });
        QCOMPARE(timeline.bytesMoved(3), 70.0);
        QCOMPARE(timeline.tracks[1].toStage, 3);
    }

    void aCircleNamesBothOfWhichEachWaitsForTheOther()
    {
        Tasks list;
        list.resource();
        list.task(1, { { 1 } });
        list.resource();
        list.task(1, { { 0 } });
        const auto built = list.built();
        QVERIFY(!built);
        QCOMPARE(built.error().code, ErrorCode::Internal);
        QVERIFY2(
            built.error().what.contains(
                "stage 0: forward of micro-batch 0 waits for stage 1: forward of micro-batch 1, which waits for it"),
            built.error().what.c_str());
    }

    void aTaskThatWaitsForALaterOneOfItsResourceIsACircle()
    {
        Tasks list;
        list.resource();
        list.task(1, { { 1 } });
        list.task(1);
        QVERIFY(!list.built());
        list.list.front().waits.front().from = Tasks::From::Start; // its start is no sooner
        QVERIFY(!list.built());
    }

    // 0 means unknown. The state before the first word is a constant, and the word that is its rotation makes 0 of it.
    void aFingerprintIsNeverZero()
    {
        Fingerprint print;
        print.add(std::rotl(std::uint64_t { 0x2545f4914f6cdd1du }, 23));
        QCOMPARE(print.value(), std::uint64_t { 1 });
        QVERIFY(Fingerprint().value() != 0);
    }

    void aFingerprintDiffersByOrderAndByLength()
    {
        std::set<std::uint64_t> seen;
        const auto add = [&](const std::vector<std::uint64_t> &words, bool atOnce) {
            Fingerprint print;
            if (atOnce)
                print.add(words.data(), words.size());
            for (std::size_t i = 0; !atOnce && i < words.size(); ++i)
                print.add(words[i]);
            seen.insert(print.value());
        };
        std::size_t made = 0;
        std::vector<std::uint64_t> words(12);
        for (std::uint64_t i = 0; i < words.size(); ++i)
            words[i] = i;
        for (const bool atOnce : { false, true }) {
            add(words, atOnce);
            ++made;
            for (std::size_t a = 0; a < words.size(); ++a)
                for (std::size_t b = 0; b < a; ++b, ++made) {
                    std::vector<std::uint64_t> swapped = words;
                    std::swap(swapped[a], swapped[b]);
                    add(swapped, atOnce);
                }
            for (std::size_t zeros = 0; zeros < 9; ++zeros, ++made)
                add(std::vector<std::uint64_t>(zeros), atOnce);
        }
        QCOMPARE(seen.size(), made);
    }
};

TRAINYARD_APPLESS_TEST(TestGraphBuilder)
#include "tst_graph_builder.moc"
