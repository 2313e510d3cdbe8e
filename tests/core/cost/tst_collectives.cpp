// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/collectives.h"

#include <QtTest>

#include <cmath>

using namespace trainyard;

namespace {

const LinkClass kPlain{1, 0, 0, 0, 1, {}};        // bandwidth alone
const LinkClass kLatent{1, 10, 2, 0, 1, {}};      // with start-up and steps

RankGroup flat(int ranks, const LinkClass &kind = kPlain)
{
    const Link link{gbytesPerSecond(100), &kind};
    return {ranks, ranks, link, link};
}

} // namespace

class TestCollectives : public QObject
{
    Q_OBJECT

private slots:
    void ringsMoveTheTextbookVolume();
    void gatherAndScatterMakeAnAllReduce();
    void manyRanksOfASmallMessageTakeTheTree();
    void aHierarchyUsesTheNicOfEveryLocalRank();
    void aGroupOfOneIsFree();
    void timeGrowsWithBytesAndFallsWithBandwidth();
};

void TestCollectives::ringsMoveTheTextbookVolume()
{
    // all-reduce: 2 (n - 1) / n bytes a rank; all-gather and reduce-scatter: half of that
    for (int n : {2, 4, 8}) {
        QCOMPARE(allReduceTime(Bytes{1e9}, flat(n)).value, 2.0 * (n - 1) / n * 1e9 / 100e9);
        QCOMPARE(allGatherTime(Bytes{1e9}, flat(n)).value, 1.0 * (n - 1) / n * 1e9 / 100e9);
        QCOMPARE(allToAllTime(Bytes{1e9}, flat(n)).value, 1.0 * (n - 1) / n * 1e9 / 100e9);
    }
}

void TestCollectives::gatherAndScatterMakeAnAllReduce()
{
    QCOMPARE((reduceScatterTime(Bytes{3e8}, flat(8)) + allGatherTime(Bytes{3e8}, flat(8))).value, allReduceTime(Bytes{3e8}, flat(8)).value);
}

void TestCollectives::manyRanksOfASmallMessageTakeTheTree()
{
    // ring: 2 (n - 1) steps; tree: 2 log2 n steps of 2 us, and 10 us to start
    const double tree = (10 + 2 * 10 * 2) * 1e-6;
    QVERIFY(std::abs(allReduceTime(Bytes{0}, flat(1024, kLatent)).value - tree) < 1e-12);
}

void TestCollectives::aHierarchyUsesTheNicOfEveryLocalRank()
{
    // 8 local ranks: 7/4 of the tensor inside at 100 GB/s, then 1/8 of it among 4 nodes at 10 GB/s
    RankGroup group{32, 8, {gbytesPerSecond(100), &kPlain}, {gbytesPerSecond(10), &kPlain}};
    QCOMPARE(allReduceTime(Bytes{1e9}, group).value, 1.75e9 / 100e9 + 1.5 * 1.25e8 / 10e9);
}

void TestCollectives::aGroupOfOneIsFree()
{
    QCOMPARE(allReduceTime(Bytes{1e9}, flat(1)).value, 0.0);
    QCOMPARE(allToAllTime(Bytes{1e9}, flat(1)).value, 0.0);
}

void TestCollectives::timeGrowsWithBytesAndFallsWithBandwidth()
{
    const NetworkSpec &network = builtinNetwork();
    double before = 0;
    for (double bytes = 1e3; bytes < 1e10; bytes *= 3) {
        const RankGroup group{64, 8, {gbytesPerSecond(300), &network.device}, {gbytesPerSecond(25), &network.fabric}};
        RankGroup faster = group;
        faster.between.bandwidth = gbytesPerSecond(50);
        const double now = allReduceTime(Bytes{bytes}, group).value;
        QVERIFY(now > before);
        QVERIFY(allReduceTime(Bytes{bytes}, faster).value < now);
        before = now;
    }
}

QTEST_APPLESS_MAIN(TestCollectives)
#include "tst_collectives.moc"
