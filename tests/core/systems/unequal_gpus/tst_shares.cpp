// SPDX-License-Identifier: GPL-3.0-or-later
#include "random_problem.h"
#include "tests/support/test_program.h"

#include "core/systems/unequal_gpus/shares.h"

#include <QtTest>

using namespace trainyard;

namespace {

/// Rejects what breaks a promise that every plan makes.
void verifySound(const ShareProblem &problem, const Shares &shares)
{
    int samples = 0, ranks = 0;
    double states = 0, slowest = 0;
    for (const RankShare &rank : shares.ranks) {
        const RankKind &kind = problem.kinds[std::size_t(rank.kind)];
        samples += rank.ranks * rank.samples();
        ranks += rank.ranks;
        states += rank.ranks * rank.stateShare;
        slowest = std::max(slowest, layerTime(problem, kind, rank.microBatch, rank.microBatches));
        // C(m) + r · S ≤ room of each rank
        QVERIFY(rank.computeBytes + rank.stateShare * problem.stateBytes <= kind.room + 2);
    }
    QCOMPARE(samples, problem.batch);
    QCOMPARE(ranks, rankCount(problem));
    QVERIFY(std::abs(states - 1) < 1e-9); // Σ r = 1
    QCOMPARE(slowest, shares.layerTime);
}

} // namespace

class TestShares : public QObject {
    Q_OBJECT

private slots:
    void theFastSearchEqualsTheReleasedProgramme()
    {
        // Where C(m) is one line for all kinds, as in the released code, memory of all depends on Σ m alone: it is
        // exact.
        RandomProblems random(1, { 4, 16, true, false });
        int feasible = 0, tight = 0;
        for (int i = 0; i < 1000; ++i) {
            ShareProblem problem = random.next();
            problem.mayIdle = false;
            const auto fast = fastShares(problem), released = releasedShares(problem);
            QCOMPARE(fast.has_value(), released.has_value());
            if (!fast)
                continue;
            QCOMPARE(fast->layerTime, released->layerTime);
            QCOMPARE(fast->sumMicroBatch, released->sumMicroBatch);
            verifySound(problem, *fast);
            verifySound(problem, *released);
            ++feasible;
            problem.stateBytes = 0;
            tight += fastShares(problem)->layerTime < fast->layerTime ? 1 : 0;
        }
        QVERIFY(feasible > 500 && feasible < 1000);
        QVERIFY(tight > 50); // memory decides often
    }
    void theFastSearchEqualsAllPlansOneByOne_data()
    {
        QTest::addColumn<bool>("keepsSamples");
        QTest::addColumn<bool>("balancesState");
        QTest::newRow("cephalo") << false << true;
        QTest::newRow("activations that stay") << true << true;
        QTest::newRow("even states") << true << false;
    }
    void theFastSearchEqualsAllPlansOneByOne()
    {
        QFETCH(bool, keepsSamples);
        QFETCH(bool, balancesState);
        RandomProblems random(2, { 3, 14, false, keepsSamples });
        int feasible = 0;
        for (int i = 0; i < 700; ++i) {
            ShareProblem problem = random.next();
            problem.balancesState = balancesState;
            problem.layered = i % 5 > 0;
            problem.overlaps = i % 7 > 0;
            const auto fast = fastShares(problem);
            const AllPlans all(problem);
            QCOMPARE(fast.has_value(), all.time < std::numeric_limits<double>::infinity());
            if (!fast)
                continue;
            QCOMPARE(fast->layerTime, all.time);
            QCOMPARE(fast->sumMicroBatch, all.sum);
            verifySound(problem, *fast);
            ++feasible;
        }
        QVERIFY(feasible > 200 && feasible < 700);
    }
    void whereTheBestPlanIsALittleTooFullTheNextOneIsFound()
    {
        // States take the room that the best plan without them leaves, and up to 20 MB of what it computes in.
        RandomProblems random(6, { 4, 14, false, true });
        int sameTime = 0, larger = 0;
        for (int i = 0; i < 3000; ++i) {
            ShareProblem problem = random.next();
            problem.gather = problem.reduceScatter = 0; // times do not depend on states
            problem.stateBytes = 0;
            const auto free = fastShares(problem);
            if (!free)
                continue;
            problem.stateBytes = free->roomBytes - free->usedBytes + random.real(1e5, 20e6);
            const auto fast = fastShares(problem);
            const AllPlans all(problem);
            QCOMPARE(fast.has_value(), all.time < std::numeric_limits<double>::infinity());
            if (!fast)
                continue;
            QCOMPARE(fast->layerTime, all.time);
            QCOMPARE(fast->sumMicroBatch, all.sum);
            verifySound(problem, *fast);
            sameTime += fast->layerTime <= free->layerTime ? 1 : 0;
            larger += fast->layerTime <= free->layerTime && fast->sumMicroBatch > free->sumMicroBatch ? 1 : 0;
        }
        QVERIFY(sameTime > 100); // as fast, by another plan
        QVERIFY(larger > 5);
    }
    void largerBatchesEqualTheReleasedProgrammeToo()
    {
        RandomProblems random(7, { 3, 140, true, false });
        int feasible = 0;
        for (int i = 0; i < 40; ++i) {
            ShareProblem problem = random.next();
            problem.mayIdle = false;
            const auto fast = fastShares(problem), released = releasedShares(problem);
            QCOMPARE(fast.has_value(), released.has_value());
            if (!fast)
                continue;
            QCOMPARE(fast->layerTime, released->layerTime);
            QCOMPARE(fast->sumMicroBatch, released->sumMicroBatch);
            feasible += problem.batch > 64 ? 1 : 0;
        }
        QVERIFY(feasible > 5);
    }
    void samplesAddUpExactlyOrNotAtAll()
    {
        // Two ranks that do a and b samples at once and nothing else: B = a + b, or nothing can be.
        ShareProblem problem;
        problem.accumulates = false;
        problem.kinds.resize(2);
        for (RankKind &kind : problem.kinds) {
            kind.forward = kind.backward = kind.compute = std::vector<double>(140, 1);
            kind.room = 10;
        }
        for (int a = 1; a <= 135; a += 1 + a % 3)
            for (int b = 1; b <= 135; b += 1 + b % 2) {
                problem.kinds[0].microBatch = a;
                problem.kinds[1].microBatch = b;
                problem.batch = a + b;
                QVERIFY(fastShares(problem).has_value());
                problem.batch = a + b + 1;
                QVERIFY(!fastShares(problem).has_value());
                problem.batch = std::max(a, b);
                QVERIFY(!fastShares(problem).has_value());
            }
    }
    void theReleasedProgrammeIsNeverFaster()
    {
        RandomProblems random(3, { 3, 12, false, true });
        for (int i = 0; i < 300; ++i) {
            const ShareProblem problem = random.next();
            const auto fast = fastShares(problem), released = releasedShares(problem);
            QVERIFY(!released || fast);
            if (released)
                QVERIFY(std::pair(fast->layerTime, fast->sumMicroBatch)
                    <= std::pair(released->layerTime, released->sumMicroBatch));
        }
    }
    void anEvenBatchIsAsEvenAsItDivides()
    {
        RandomProblems random(4, { 4, 16, true, false });
        int feasible = 0;
        for (int i = 0; i < 300; ++i) {
            ShareProblem problem = random.next();
            problem.balancesCompute = false;
            const auto shares = fastShares(problem);
            if (!shares)
                continue;
            ++feasible;
            verifySound(problem, *shares);
            // b = ⌊B / N⌋, or one more on B mod N ranks
            const int each = problem.batch / rankCount(problem);
            int more = 0;
            for (const RankShare &rank : shares->ranks) {
                QVERIFY(rank.samples() == each || rank.samples() == each + 1);
                more += rank.samples() > each ? rank.ranks : 0;
            }
            QCOMPARE(more, problem.batch % rankCount(problem));
        }
        QVERIFY(feasible > 100);
    }
    void extrapolationRepeatsTheMicroBatchesOfASmallerBatch()
    {
        RandomProblems random(5, { 3, 10, true, true });
        for (int i = 0; i < 50; ++i) {
            ShareProblem problem = random.next();
            const bool isFast = i % 2 > 0;
            const auto once = isFast ? fastShares(problem) : releasedShares(problem);
            problem.batch *= 3;
            for (RankKind &kind : problem.kinds)
                kind.perSample /= 3; // as many samples stay as before
            const auto thrice = isFast ? fastShares(problem, 3) : releasedShares(problem, { 0, 3 });
            QCOMPARE(once.has_value(), thrice.has_value());
            if (thrice)
                verifySound(problem, *thrice);
            for (std::size_t r = 0; once && r < once->ranks.size(); ++r) {
                QCOMPARE(thrice->ranks[r].microBatch, once->ranks[r].microBatch);
                QCOMPARE(thrice->ranks[r].microBatches, 3 * once->ranks[r].microBatches);
            }
        }
    }
};

TRAINYARD_APPLESS_TEST(TestShares)
#include "tst_shares.moc"
