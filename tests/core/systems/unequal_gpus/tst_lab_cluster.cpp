// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab_cluster.h"
#include "tests/support/test_program.h"

#include "core/systems/unequal_gpus/layer_time.h"
#include "core/systems/unequal_gpus/shares.h"

#include <QtTest>

using namespace trainyard;

namespace {

std::vector<std::pair<int, int>> counts(const Shares &shares) // m, l of each rank
{
    std::vector<std::pair<int, int>> all;
    for (const RankShare &rank : shares.ranks)
        all.insert(all.end(), std::size_t(rank.ranks), { rank.microBatch, rank.microBatches });
    return all;
}

std::vector<double> stateShares(const Shares &shares)
{
    std::vector<double> all;
    for (const RankShare &rank : shares.ranks)
        all.insert(all.end(), std::size_t(rank.ranks), rank.stateShare);
    return all;
}

} // namespace

/// What an independent implementation of the released optimiser found for the released profile.
class TestLabCluster : public QObject {
    Q_OBJECT

private slots:
    void theFastSearchAndTheReleasedProgrammeGiveTheShippedBatch()
    {
        const ShareProblem problem = lab::problem();
        for (const auto &shares : { fastShares(problem), releasedShares(problem) }) {
            QVERIFY(shares.has_value());
            // b = 13 · 1, 6 · 2, 34 · 1, 5 · 1: the L4 with 13 is the slowest, 2 · (7.415036 · 13 + 1.181504)
            //   + 10.946160 · 13 + 4.842824 = 342.297
            const std::vector<std::pair<int, int>> shipped { { 13, 1 }, { 6, 2 }, { 34, 1 }, { 5, 1 } };
            QCOMPARE(counts(*shares), shipped);
            QCOMPARE(shares->layerTime, 2 * (7.415036 * 13 + 1.181504) + 10.946160 * 13 + 4.842824);
            QVERIFY(std::abs(shares->layerTime - 342.297) < 5e-4);
            QCOMPARE(shares->sumMicroBatch, 58);
            // 64 samples every 32 layers of 342.297 ms
            QVERIFY(std::abs(64 / (lab::kLayers * shares->layerTime / 1000) - 5.843) < 5e-4);
        }
    }
    void memoryOfAllIsWhatWasPrinted()
    {
        const auto shares = fastShares(lab::problem());
        QVERIFY(shares.has_value());
        const double buffers = 4 * 2 * lab::kGiB;
        QVERIFY(std::abs((shares->usedBytes + buffers) / lab::kGiB - 73.8) < 0.05);
        QVERIFY(std::abs((shares->roomBytes + buffers) / lab::kGiB - 86.6) < 0.05);
    }
    void theStatesOfTheFullL4GoToTheOthers()
    {
        const auto shares = fastShares(lab::problem());
        QVERIFY(shares.has_value());
        // r of the L4 with 13 = (0.75 · 22.5 − 2 − C(13)) / (16 P / 2^30), C(13) = 2.233 + 9 · 0.371; others (1 − r) /
        // 3
        const double r = (0.75 * 22.5 - 2 - 2.233 - 9 * 0.371) / (16 * lab::kParameters / lab::kGiB);
        const std::vector<double> found = stateShares(*shares);
        const std::vector<double> expected { r, (1 - r) / 3, (1 - r) / 3, (1 - r) / 3 };
        for (std::size_t i = 0; i < 4; ++i)
            QVERIFY(std::abs(found[i] - expected[i]) < 1e-9);
        QVERIFY(std::abs(found[0] - 0.2253) < 5e-5);
        QVERIFY(std::abs(found[1] - 0.2582) < 5e-5);
    }
    void theReleasedCallKeepsStatesEven()
    {
        // C at the count of micro-batches: 1.12 or 1.49 GiB, beside which 16 P / 4 = 10.3 of 14.9 GiB fit everywhere
        ShareProblem problem = lab::problem();
        problem.stateFill = StateFill::MinParamsReleased;
        const auto shares = fastShares(problem);
        QVERIFY(shares.has_value());
        const std::vector<double> even(4, 0.25);
        QCOMPARE(stateShares(*shares), even);
    }
    void microBatchesThatFitAreWhatWasPrinted()
    {
        const ShareProblem problem = lab::problem();
        std::vector<int> even, largest;
        for (const RankKind &kind : problem.kinds) {
            even.push_back(evenMicroBatch(problem, kind));
            largest.push_back(largestMicroBatch(problem, kind));
        }
        QCOMPARE(even, (std::vector<int> { 10, 61, 10 }));
        QCOMPARE(largest, (std::vector<int> { 38, 89, 38 }));
    }
    void collectivesHideUntilTheyAreTheLayer()
    {
        for (const auto &[gather, reduce, expected] :
            { std::tuple { 20., 40., 342.297 }, { 60., 120., 342.297 }, { 120., 240., 480.0 } }) {
            const ShareProblem problem = lab::problem(gather, reduce);
            const auto fast = fastShares(problem), released = releasedShares(problem);
            QVERIFY(fast.has_value() && released.has_value());
            QVERIFY(std::abs(fast->layerTime - expected) < 5e-4);
            QCOMPARE(fast->layerTime, released->layerTime);
            QCOMPARE(fast->sumMicroBatch, released->sumMicroBatch);
        }
        // 2 · AG + RS is the least that a layer can take
        QCOMPARE(fastShares(lab::problem(120, 240))->layerTime, 2.0 * 120 + 240);
    }
};

TRAINYARD_APPLESS_TEST(TestLabCluster)
#include "tst_lab_cluster.moc"
