// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab_cluster.h"
#include "random_problem.h"
#include "tests/support/test_program.h"

#include "core/systems/unequal_gpus/baselines.h"
#include "core/systems/unequal_gpus/limits.h"
#include "core/systems/unequal_gpus/shares.h"

#include <QtTest>

using namespace trainyard;

namespace {

constexpr auto kWays = { ShareWay::EvenSplit, ShareWay::EvenAccumulated, ShareWay::Whale, ShareWay::StateBalanced,
    ShareWay::ComputeBalanced, ShareWay::Balanced };

/// One rank of each kind of the lab cluster, of which two L4 are two kinds.
std::vector<int> samplesOf(const Shares &shares)
{
    std::vector<int> all;
    for (const RankShare &rank : shares.ranks)
        all.insert(all.end(), std::size_t(rank.ranks), rank.samples());
    return all;
}

/// As the way promises: no times, only whether some plan of one sample a micro-batch, or of one micro-batch, fits.
bool fits(ShareWay way, ShareProblem problem, int batch, double states)
{
    problem.batch = batch;
    problem.stateBytes = states;
    problem.mayIdle = false;
    return sharesBy(way, problem).has_value();
}

} // namespace

class TestBaselines : public QObject {
    Q_OBJECT

private slots:
    void anEvenBatchWaitsForTheP40()
    {
        // b = 16 as 2 · 8, the largest that divides it below 10: 2 · 2 · (15.637328 · 8 + 4.132932) + 10
        //   + 2 · (28.016862 · 8 + 1.877118) = 978.95
        const auto even = sharesBy(ShareWay::EvenAccumulated, lab::problem());
        QVERIFY(even.has_value());
        QCOMPARE(samplesOf(*even), std::vector<int>(4, 16));
        QCOMPARE(even->ranks.back().microBatch, 8);
        QCOMPARE(even->ranks.front().microBatch, 8);
        QCOMPARE(even->ranks[1].microBatch, 16); // an A6000 has room for 61
        QVERIFY(std::abs(even->layerTime - 979.0) < 0.05);
        const auto balanced = sharesBy(ShareWay::Balanced, lab::problem());
        QVERIFY(std::abs(even->layerTime / balanced->layerTime - 2.86) < 5e-3);
        QVERIFY(std::abs(64 / (lab::kLayers * even->layerTime / 1000) - 2.04) < 5e-3);
    }
    void anEvenSplitHasOneMicroBatchOrDoesNotFit()
    {
        const auto split = sharesBy(ShareWay::EvenSplit, lab::problem());
        QVERIFY(!split.has_value()); // 16 at once, of which an L4 has room for 10
        QVERIFY(QString::fromStdString(toString(split.error())).contains("for 16 samples"));
        ShareProblem small = lab::problem();
        small.batch = 38;
        const auto fitting = sharesBy(ShareWay::EvenSplit, small);
        QVERIFY(fitting.has_value());
        QCOMPARE(fitting->sumMicroBatch, 38);
        auto samples = samplesOf(*fitting);
        std::ranges::sort(samples);
        QCOMPARE(samples, (std::vector<int> { 9, 9, 10, 10 }));
    }
    void whaleGoesBySpeedThenOffWhatOverflows()
    {
        // By peak FLOP/s of 30.3, 30.3, 38.7, 11.8 of 111.1, 64 samples are 17.5, 17.5, 22.3, 6.8: L4 have room for 10
        const std::vector<double> peaks { 30.3, 38.7, 11.8 };
        const auto whale = sharesBy(ShareWay::Whale, lab::problem(), peaks);
        QVERIFY(whale.has_value());
        // The other 44 by 38.7 : 11.8: 33.7 and 10.3, as the P40 too has room for 10
        QCOMPARE(samplesOf(*whale), (std::vector<int> { 10, 10, 34, 10 }));
        ShareProblem small = lab::problem();
        small.batch = 30; // 8.2, 8.2, 10.4, 3.2
        QCOMPARE(samplesOf(*sharesBy(ShareWay::Whale, small, peaks)), (std::vector<int> { 8, 8, 11, 3 }));
        small.batch = 200;
        QVERIFY(!sharesBy(ShareWay::Whale, small, peaks));
    }
    void balancingBothIsNeverSlowerThanAnyOther()
    {
        RandomProblems random(51, { 4, 16, false, true });
        std::map<ShareWay, int> feasible, slower;
        for (int i = 0; i < 400; ++i) {
            ShareProblem problem = random.next();
            problem.mayIdle = false;
            const auto best = sharesBy(ShareWay::Balanced, problem);
            for (const ShareWay way : kWays) {
                const auto shares = sharesBy(way, problem);
                if (!shares)
                    continue;
                QVERIFY(best && best->layerTime <= shares->layerTime);
                ++feasible[way];
                slower[way] += best->layerTime < shares->layerTime ? 1 : 0;
                int samples = 0;
                for (const int b : samplesOf(*shares))
                    samples += b;
                QCOMPARE(samples, problem.batch);
            }
        }
        for (const ShareWay way : kWays) {
            QVERIFY(feasible[way] > 20);
            QVERIFY(way == ShareWay::Balanced || slower[way] > 10);
        }
    }
    void theLargestBatchIsTheLastThatFits()
    {
        RandomProblems random(52, { 4, 14, false, true });
        std::map<ShareWay, int> bounded;
        for (int i = 0; i < 250; ++i) {
            ShareProblem problem = random.next();
            problem.accumulates = i % 2 > 0;
            const int ranks = rankCount(problem);
            for (const ShareWay way : kWays) {
                const auto largest = largestBatch(way, problem);
                if (!largest) { // every further micro-batch is free on a rank that can take more
                    QVERIFY(fits(way, problem, 97 * ranks, problem.stateBytes));
                    continue;
                }
                if (*largest > 200)
                    continue; // searches grow with it
                ++bounded[way];
                const int most = int(*largest);
                QVERIFY(most == 0 || most >= ranks);
                QVERIFY(most == 0 || fits(way, problem, most, problem.stateBytes));
                QVERIFY(!fits(way, problem, std::max(ranks, most + 1), problem.stateBytes));
            }
        }
        for (const ShareWay way : kWays)
            QVERIFY(bounded[way] > 50);
    }
    void theLargestModelIsTheLastThatFits()
    {
        RandomProblems random(53, { 4, 14, false, true });
        std::map<ShareWay, int> found;
        for (int i = 0; i < 250; ++i) {
            ShareProblem problem = random.next();
            problem.accumulates = i % 2 > 0;
            for (const ShareWay way : kWays) {
                const double states = largestStates(way, problem);
                if (states < 100) {
                    QVERIFY(!fits(way, problem, problem.batch, 1e6));
                    continue;
                }
                ++found[way];
                QVERIFY(fits(way, problem, problem.batch, states - 4));
                QVERIFY(!fits(way, problem, problem.batch, states + 20));
            }
        }
        for (const ShareWay way : kWays)
            QVERIFY(found[way] > 30);
    }
    void whatTheLabClusterHolds()
    {
        // Even: 10 samples at once on L4 and P40 each, one more on the A6000. Balanced with micro-batches: no limit.
        const ShareProblem problem = lab::problem();
        QCOMPARE(largestBatch(ShareWay::EvenSplit, problem).value(), 41);
        QCOMPARE(largestBatch(ShareWay::Whale, problem).value(), 10 + 10 + 61 + 10);
        QVERIFY(!largestBatch(ShareWay::Balanced, problem));
        // Even: 4 · (0.75 · 22.5 − 2 − 1.12) GiB; balanced: 78.6175 − 4 · 1.12 GiB
        QVERIFY(std::abs(largestStates(ShareWay::EvenAccumulated, problem) - 4 * 13.755 * lab::kGiB) < 8);
        QVERIFY(std::abs(largestStates(ShareWay::Balanced, problem) - (78.6175 - 4.48) * lab::kGiB) < 2);
    }
};

TRAINYARD_APPLESS_TEST(TestBaselines)
#include "tst_baselines.moc"
