// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/experts/loads.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace trainyard;

class TestLoads : public QObject {
    Q_OBJECT

private slots:
    void loadsAreCountedRankByRank();
    void equalLoadsAreBalanced();
    void anImbalanceIsThatOfTheFullestRank();
    void changingPlacesOfExpertsOfARankChangesNothing();
    void changingPlacesOfRanksMovesTheirLoads();
    void roomForAllDropsNothing();
};

namespace {

std::vector<double> randomLoads(std::mt19937 &random, int experts)
{
    std::exponential_distribution<double> load(1);
    std::vector<double> loads(static_cast<std::size_t>(experts));
    std::ranges::generate(loads, [&] { return load(random); });
    return loads;
}

} // namespace

/// Visits of an expert over the mean, cut at the capacity, summed by rank; share cut off; over the mean that is left.
void TestLoads::loadsAreCountedRankByRank()
{
    std::mt19937 random(5);
    for (int i = 0; i < 200; ++i) {
        constexpr int kExperts = 16, kRanks = 4;
        const std::vector<double> loads = randomLoads(random, kExperts);
        const double mean = std::accumulate(loads.begin(), loads.end(), 0.0) / kExperts;
        for (const std::optional<double> capacity :
            { std::optional<double> {}, std::optional(1.25), std::optional(0.5) }) {
            std::vector<double> ranks(kRanks);
            double dropped = 0, kept = 0;
            for (std::size_t e = 0; e < kExperts; ++e) {
                const double room = capacity ? *capacity * mean : loads[e], taken = std::min(loads[e], room);
                ranks[e / (kExperts / kRanks)] += taken;
                kept += taken;
                dropped += loads[e] - taken;
            }
            const RankLoads found = rankLoads(loads, kExperts, kRanks, 1, capacity);
            for (std::size_t r = 0; r < kRanks; ++r)
                QVERIFY(std::abs(found.ofRank[r] - ranks[r] / (kept / kRanks)) < 1e-12);
            QVERIFY(std::abs(found.dropped - dropped / (mean * kExperts)) < 1e-12);
            QCOMPARE(found.fullest, int(std::ranges::max_element(ranks) - ranks.begin()));
            QCOMPARE(found.skew, found.ofRank[std::size_t(found.fullest)]);
        }
    }
}

void TestLoads::equalLoadsAreBalanced()
{
    for (const auto &loads : { std::vector<double> {}, std::vector<double>(8, 3.0), std::vector<double>(8, 0.0) }) {
        const RankLoads found = rankLoads(loads, 8, 4, 1, {});
        QCOMPARE(found.skew, 1.0);
        QCOMPARE(found.dropped, 0.0);
        QCOMPARE(found.fullest, 0);
    }
    QCOMPARE(rankLoads({}, 8, 4, 1, 0.75).skew, 1.0); // all drop alike
    QVERIFY(std::abs(rankLoads({}, 8, 4, 1, 0.75).dropped - 0.25) < 1e-12);
}

/// The fullest has `imbalance` times the mean, (n - imbalance) / (n - 1) are left to each of the others.
void TestLoads::anImbalanceIsThatOfTheFullestRank()
{
    const RankLoads found = rankLoads({}, 16, 4, 2.5, {});
    QVERIFY(std::abs(found.skew - 2.5) < 1e-12);
    QVERIFY(std::abs(found.ofRank[3] - 0.5) < 1e-12);
    QVERIFY(std::abs(std::accumulate(found.ofRank.begin(), found.ofRank.end(), 0.0) - 4) < 1e-12);
    // Room for 1.5 of the mean: the fullest keeps 1.5 of 2.5, a quarter of its visits' excess is lost to all
    const RankLoads cut = rankLoads({}, 16, 4, 2.5, 1.5);
    QVERIFY(std::abs(cut.dropped - 1.0 / 4) < 1e-12);
    QVERIFY(std::abs(cut.skew - 1.5 / (3.0 / 4)) < 1e-12);
    // Nine times the mean of four ranks would be more than all: the first has 4, the others nothing.
    const RankLoads all = rankLoads({}, 16, 4, 9, {});
    QCOMPARE(all.skew, 4.0);
    QCOMPARE(std::accumulate(all.ofRank.begin(), all.ofRank.end(), 0.0), 4.0);
    QCOMPARE(rankLoads({}, 16, 1, 4, {}).skew, 1.0); // one rank is the mean
}

void TestLoads::changingPlacesOfExpertsOfARankChangesNothing()
{
    std::mt19937 random(6);
    std::vector<double> loads = randomLoads(random, 12);
    const RankLoads before = rankLoads(loads, 12, 3, 1, 1.1);
    std::ranges::shuffle(loads.begin() + 4, loads.begin() + 8, random);
    const RankLoads after = rankLoads(loads, 12, 3, 1, 1.1);
    for (std::size_t r = 0; r < 3; ++r)
        QVERIFY(std::abs(before.ofRank[r] - after.ofRank[r]) < 1e-12);
}

void TestLoads::changingPlacesOfRanksMovesTheirLoads()
{
    std::mt19937 random(7);
    std::vector<double> loads = randomLoads(random, 12);
    const RankLoads before = rankLoads(loads, 12, 3, 1, {});
    std::ranges::rotate(loads, loads.begin() + 4);
    const RankLoads after = rankLoads(loads, 12, 3, 1, {});
    QVERIFY(std::abs(before.skew - after.skew) < 1e-12);
    for (std::size_t r = 0; r < 3; ++r)
        QVERIFY(std::abs(before.ofRank[(r + 1) % 3] - after.ofRank[r]) < 1e-12);
}

void TestLoads::roomForAllDropsNothing()
{
    std::mt19937 random(8);
    const std::vector<double> loads = randomLoads(random, 16);
    const RankLoads roomy = rankLoads(loads, 16, 4, 1, 1e3), free = rankLoads(loads, 16, 4, 1, {});
    QCOMPARE(roomy.dropped, 0.0);
    QCOMPARE(roomy.skew, free.skew);
}

TRAINYARD_APPLESS_TEST(TestLoads)
#include "tst_loads.moc"
