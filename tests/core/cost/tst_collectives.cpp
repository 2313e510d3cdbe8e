// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/catalogue/catalogue.h"
#include "core/cost/collectives.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>

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
    void switchesReduceFasterThanARing();
    void everyGenerationHasItsOwnLink();
    void measuredCollectivesAreMetAsTheFileSays_data();
    void measuredCollectivesAreMetAsTheFileSays();
    void anAllReduceLiesBetweenItsVolumeAndItsLatency();
    void aTokenCrossesToARankOnceHoweverManyOfItsExpertsLiveThere();
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

void TestCollectives::switchesReduceFasterThanARing()
{
    LinkClass kind = kPlain;
    const double ring = allReduceTime(Bytes{1e9}, flat(8, kind)).value;
    kind.switchGain = 1.3;
    QCOMPARE(allReduceTime(Bytes{1e9}, flat(8, kind)).value, ring / 1.3);
    QCOMPARE(allReduceTime(Bytes{1e9}, flat(4, kind)).value, allReduceTime(Bytes{1e9}, flat(4)).value);   // too few ranks
}

void TestCollectives::everyGenerationHasItsOwnLink()
{
    const NetworkSpec &network = builtinNetwork();
    const auto kindOf = [&](const char *id) { return deviceLink(*builtinCatalogue().gpu(id), network).kind; };
    QVERIFY(kindOf("h100-sxm-80gb") == kindOf("h200-sxm-141gb"));
    QVERIFY(kindOf("h100-sxm-80gb") != kindOf("a100-sxm-80gb"));
    QVERIFY(kindOf("b300-sxm-270gb") == kindOf("b200-sxm-180gb"));   // Blackwell Ultra
    QVERIFY(kindOf("v100-sxm-32gb") == &network.device);
    QVERIFY(kindOf("l40s-48gb") == &network.pcie);
}

void TestCollectives::measuredCollectivesAreMetAsTheFileSays_data()
{
    QTest::addColumn<double>("claimed");
    std::ifstream input(TRAINYARD_SOURCE_DIR "/resources/catalog/network.json");
    const auto file = nlohmann::json::parse(input);
    for (const auto &[generation, kinds] : file["residuals"].items()) {
        for (const auto &[kind, errors] : kinds.items())
            QTest::newRow((generation + " " + kind).c_str()) << errors["median_abs_error_held_out"].get<double>();
    }
}

void TestCollectives::measuredCollectivesAreMetAsTheFileSays()
{
    QFETCH(double, claimed);
    QVERIFY2(claimed <= 0.19, qPrintable(QString::number(claimed)));
}

void TestCollectives::anAllReduceLiesBetweenItsVolumeAndItsLatency()
{
    // at least 2 (n - 1) / n S over the link at its fastest measured rate; at most that at half rate, with start, steps and ramp
    for (const char *id : {"a100-sxm-80gb", "h100-sxm-80gb", "b200-sxm-180gb"}) {
        const Link link = deviceLink(*builtinCatalogue().gpu(id), builtinNetwork());
        for (int n : {2, 4, 8}) {
            for (double size = 1e4; size < 1e10; size *= 10) {
                const double volume = 2.0 * (n - 1) / n * size / link.bandwidth.value;
                const double latency = (link.kind->startUs + 2 * (n - 1) * link.kind->stepUs + link.kind->rampUs) * 1e-6;
                const double time = allReduceTime(Bytes{size}, {n, n, link, link}).value;
                QVERIFY2(time > 0.9 * volume, id);
                QVERIFY2(time < 2.2 * volume + latency, id);
            }
        }
    }
}

void TestCollectives::aTokenCrossesToARankOnceHoweverManyOfItsExpertsLiveThere()
{
    const Link link = deviceLink(*builtinCatalogue().gpu("h100-sxm-80gb"), builtinNetwork());
    const RankGroup group{8, 8, link, link};
    const auto time = [&](int choices) { return expertDispatchTime({1e5, Bytes{8192}, choices}, group).value; };
    QVERIFY(time(2) < 2 * time(1));
    QVERIFY(time(64) < 1.03 * time(32));   // every rank is met already
    QVERIFY(time(8) < 8 * time(1));
    QVERIFY(expertDispatchTime({1e5, Bytes{8192}, 8}, {1, 1, link, link}).value == 0);
}

QTEST_APPLESS_MAIN(TestCollectives)
#include "tst_collectives.moc"
