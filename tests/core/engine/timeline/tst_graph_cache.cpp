// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/graph_builder.h"
#include "core/engine/timeline/graph_cache.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;

namespace {

/// A row of so many tasks.
TaskGraph graphOf(std::uint64_t fingerprint, int tasks)
{
    ClassTable table;
    table.clear();
    const std::uint32_t made = table.add(WorkKind::Forward, 10);
    GraphBuilder builder(std::move(table));
    const GraphBuilder::Id row = builder.resource({});
    for (int i = 0; i < tasks; ++i)
        builder.task(row, made);
    return *std::move(builder).finish(fingerprint);
}

} // namespace

class GraphCacheTest : public QObject {
    Q_OBJECT
private slots:
    void whoTakesAGraphHasItAlone()
    {
        GraphCache cache;
        QVERIFY(!cache.take(7));
        cache.giveBack(graphOf(7, 3));
        const auto taken = cache.take(7);
        QVERIFY(taken && taken->fingerprint == 7 && taken->taskCount() == 3);
        QVERIFY(!cache.take(7));
        QVERIFY(!cache.take(8));
    }

    /// Tasks together <= the bound; of equally large ones those given back first go first, and what is larger than the
    /// bound is not kept at all.
    void theOldestGoWhereThereIsNoRoom()
    {
        GraphCache cache(10);
        cache.giveBack(graphOf(1, 4));
        cache.giveBack(graphOf(2, 4));
        cache.giveBack(graphOf(3, 4));
        QVERIFY(!cache.take(1));
        QVERIFY(cache.take(2));
        cache.giveBack(graphOf(4, 11));
        QVERIFY(!cache.take(4));
        QVERIFY(cache.take(3));
        cache.giveBack(graphOf(5, 10)); // what was taken counts no more
        QVERIFY(cache.take(5));
    }

    /// Asked for in turn, 1 + 1 + 1 + 8 of at most 10 tasks: with the oldest first each goes before its turn comes
    /// again, 4 a round. With the largest first, the 8 and the one that it drives out.
    void aLittleTooMuchDoesNotDropAllInTurn()
    {
        GraphCache cache(10);
        int made = 0;
        constexpr int kRounds = 10;
        for (int round = 0; round < kRounds; ++round)
            for (const auto &[fingerprint, tasks] : { std::pair(1, 1), { 2, 1 }, { 3, 1 }, { 4, 8 } }) {
                std::optional<TaskGraph> graph = cache.take(std::uint64_t(fingerprint));
                made += !graph;
                cache.giveBack(graph ? *std::move(graph) : graphOf(std::uint64_t(fingerprint), tasks));
            }
        QVERIFY2(made <= 4 + 2 * (kRounds - 1), qPrintable(QString::number(made)));
    }

    /// What nobody takes for a thousand others makes room before a larger one.
    void whatIsForgottenGoesHoweverSmall()
    {
        GraphCache cache(10);
        cache.giveBack(graphOf(1, 2));
        cache.giveBack(graphOf(2, 8));
        cache.giveBack(graphOf(3, 1));
        QVERIFY(cache.take(1) && !cache.take(2));
        cache.giveBack(graphOf(1, 2));
        for (int i = 0; i <= 1000; ++i) {
            cache.giveBack(graphOf(4, 7));
            QVERIFY(cache.take(4));
        }
        cache.giveBack(graphOf(4, 7));
        cache.giveBack(graphOf(5, 2));
        QVERIFY(!cache.take(1));
        QVERIFY(cache.take(4));
    }

    /// Two threads that need one topology at once make it twice; the next time neither makes it.
    void aTopologyIsKeptForEachThreadThatNeedsItAtOnce()
    {
        GraphCache cache(10);
        cache.giveBack(graphOf(1, 4));
        cache.giveBack(graphOf(1, 4));
        QVERIFY(cache.take(1));
        QVERIFY(cache.take(1));
        QVERIFY(!cache.take(1));
    }
};

TRAINYARD_APPLESS_TEST(GraphCacheTest)
#include "tst_graph_cache.moc"
