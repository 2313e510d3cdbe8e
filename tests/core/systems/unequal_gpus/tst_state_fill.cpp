// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab_cluster.h"
#include "random_problem.h"
#include "tests/support/test_program.h"

#include "core/systems/unequal_gpus/layer_shards.h"
#include "core/systems/unequal_gpus/shares.h"
#include "core/systems/unequal_gpus/state_fill.h"

#include <QtTest>

#include <numeric>

using namespace trainyard;

namespace {

/// Ranks whose micro-batch of 1 takes `compute` bytes in as much `room`.
struct Vessel {
    double room, compute;
};

ShareProblem problemOf(const std::vector<Vessel> &vessels, double states, StateFill fill)
{
    ShareProblem problem;
    problem.stateBytes = states;
    problem.stateFill = fill;
    problem.batch = int(vessels.size());
    for (const Vessel &vessel : vessels) {
        RankKind &kind = problem.kinds.emplace_back();
        kind.forward = kind.backward = { 1 };
        kind.compute = { vessel.compute };
        kind.room = vessel.room;
    }
    return problem;
}

std::vector<double> sharesOf(const ShareProblem &problem)
{
    std::vector<double> all;
    const auto shares = fastShares(problem);
    for (std::size_t i = 0; shares && i < shares->ranks.size(); ++i)
        all.insert(all.end(), std::size_t(shares->ranks[i].ranks), shares->ranks[i].stateShare);
    return all;
}

bool areClose(const std::vector<double> &a, const std::vector<double> &b)
{
    return std::ranges::equal(a, b, [](double x, double y) { return std::abs(x - y) < 1e-9; });
}

constexpr double kMB = 1e6;

} // namespace

class TestStateFill : public QObject {
    Q_OBJECT

private slots:
    void whatHasNoRoomGoesToTheOthersInEqualParts()
    {
        // Room beside compute 10, 40, 90, 90 of 160: even is 40, the first lacks 30; the second is full, the others
        // take 15
        const auto problem = problemOf(
            { { 20 * kMB, 10 * kMB }, { 50 * kMB, 10 * kMB }, { 100 * kMB, 10 * kMB }, { 100 * kMB, 10 * kMB } },
            160 * kMB, StateFill::MinParams);
        QVERIFY(areClose(sharesOf(problem), { 10. / 160, 40. / 160, 55. / 160, 55. / 160 }));
    }
    void theLargestShareIsAsSmallAsCanBe()
    {
        // Whoever holds less than the largest share is full.
        RandomProblems random(31, { 4, 12, false, true });
        int uneven = 0;
        for (int i = 0; i < 400; ++i) {
            const ShareProblem problem = random.next();
            const auto shares = fastShares(problem);
            if (!shares)
                continue;
            double largest = 0;
            for (const RankShare &rank : shares->ranks)
                largest = std::max(largest, rank.stateShare);
            for (const RankShare &rank : shares->ranks) {
                const double left = problem.kinds[std::size_t(rank.kind)].room - rank.computeBytes
                    - rank.stateShare * problem.stateBytes;
                QVERIFY(rank.stateShare > largest - 1e-9 || std::abs(left) < 2);
                uneven += rank.stateShare < largest - 1e-9 ? 1 : 0;
            }
        }
        QVERIFY(uneven > 40);
    }
    void equalUtilizationFillsFractionsOfTheGpu()
    {
        // (10 + x) / 100 = (20 + y) / 50, x + y = 90: x = 70, y = 20, 80 % each
        const auto problem =
            problemOf({ { 100 * kMB, 10 * kMB }, { 50 * kMB, 20 * kMB } }, 90 * kMB, StateFill::MinUtilization);
        QVERIFY(areClose(sharesOf(problem), { 70. / 90, 20. / 90 }));
    }
    void halfEmptyGpusKeepEvenShares()
    {
        // (20 + 4) / 50 and (10 + 4) / 100 are below a half; with 6 each the first has more: (10 + x) / 100 = (20 + y)
        // / 50
        const std::vector<Vessel> vessels { { 100 * kMB, 10 * kMB }, { 50 * kMB, 20 * kMB } };
        QVERIFY(areClose(sharesOf(problemOf(vessels, 8 * kMB, StateFill::MinUtilization)), { 0.5, 0.5 }));
        // x + y = 12: the level is (12 + 30) / 150 = 28 %, below the 40 % that the second has without states
        QVERIFY(areClose(sharesOf(problemOf(vessels, 12 * kMB, StateFill::MinUtilization)), { 1.0, 0.0 }));
    }
    void utilizationIsOfTheWholeGpuWithItsBuffers()
    {
        // (5 + 10 + x) / 200 = (5 + 20 + y) / 100, x + y = 110: level 150 / 300 = 50 %: x = 85, y = 25
        auto problem =
            problemOf({ { 150 * kMB, 10 * kMB }, { 70 * kMB, 20 * kMB } }, 110 * kMB, StateFill::MinUtilization);
        for (RankKind &kind : problem.kinds)
            kind.buffers = 5 * kMB;
        problem.kinds[0].capacity = 200 * kMB;
        problem.kinds[1].capacity = 100 * kMB;
        QVERIFY(areClose(sharesOf(problem), { 85. / 110, 25. / 110 }));
    }
    void aRankIsNeverFilledBeyondItsRoom()
    {
        RandomProblems random(32, { 4, 12, false, true });
        for (int i = 0; i < 300; ++i) {
            ShareProblem problem = random.next();
            problem.stateFill = StateFill::MinUtilization;
            const auto shares = fastShares(problem);
            if (!shares)
                continue;
            double sum = 0;
            for (const RankShare &rank : shares->ranks) {
                sum += rank.ranks * rank.stateShare;
                QVERIFY(rank.computeBytes + rank.stateShare * problem.stateBytes
                    <= problem.kinds[std::size_t(rank.kind)].room + 2);
            }
            QVERIFY(std::abs(sum - 1) < 1e-9);
        }
    }
    void layersStayEvenUntilTheSmallestQuotaIsUsedUp()
    {
        // Quota of the L4 with 13: 0.22533 · 32 = 7.2107 layers, a quarter each: 28 even ones, 0.2107 of the next, then
        // none
        const auto shares = fastShares(lab::problem());
        QVERIFY(shares.has_value());
        const double quota = shares->ranks[0].stateShare * lab::kLayers;
        const auto layers = layerShards(*shares, lab::kLayers);
        QCOMPARE(int(layers.size()), 3);
        QCOMPARE(layers[0].layers, 28);
        QVERIFY(layers[0].isEven && !layers[1].isEven && !layers[2].isEven);
        QCOMPARE(layers[1].layers, 1);
        QVERIFY(std::abs(layers[1].shards[0] - (quota - 7)) < 1e-9);
        QVERIFY(areClose(layers[2].shards, { 0, 1. / 3, 1. / 3, 1. / 3 }));
    }
    void shardsOfLayersAddUpToTheShares()
    {
        RandomProblems random(33, { 4, 12, false, true });
        for (int i = 0; i < 200; ++i) {
            const ShareProblem problem = random.next();
            const auto shares = fastShares(problem);
            if (!shares)
                continue;
            const int count = random.whole(1, 48);
            const auto runs = layerShards(*shares, count);
            std::vector<double> held(shares->ranks.size());
            int layers = 0;
            for (const LayerShards &run : runs) {
                double layer = 0;
                for (std::size_t r = 0; r < held.size(); ++r) {
                    held[r] += run.layers * run.shards[r];
                    layer += shares->ranks[r].ranks * run.shards[r];
                }
                QVERIFY(std::abs(layer - 1) < 1e-6);
                layers += run.layers;
            }
            QCOMPARE(layers, count);
            for (std::size_t r = 0; r < held.size(); ++r) // Σ over layers = r · L
                QVERIFY(std::abs(held[r] - shares->ranks[r].stateShare * count) < 1e-6);
        }
    }
    void onlyUnevenLayersPayForUnevenCollectives()
    {
        // 2 · AG + RS = 480 in 28 even layers, 1.25 times that in 4: where collectives are all
        ShareProblem problem = lab::problem(1200, 2400);
        auto shares = fastShares(lab::problem());
        QVERIFY(shares.has_value());
        const auto layers = layerShards(*shares, lab::kLayers);
        QCOMPARE(layersTime(problem, *shares, layers), 28 * 4800.0 + 4 * 1.25 * 4800);
        // Where they hide, nothing: 32 · 342.297
        QCOMPARE(layersTime(lab::problem(20, 40), *shares, layers), lab::kLayers * shares->layerTime);
    }
};

TRAINYARD_APPLESS_TEST(TestStateFill)
#include "tst_state_fill.moc"
