// SPDX-License-Identifier: GPL-3.0-or-later
// What sets of GPUs got, read off evaluations of the samples, and the plans in which a share is pinned.
#include "models/gpu_shares.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include "core/evaluation/advice/evaluate.h"
#include "core/facts/plan/validate.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace trainyard;
using test::samplePlan;

namespace {

EvaluationPtr evaluated(const Plan &plan)
{
    EvaluationWorkspace workspace;
    return *evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace, {}, Depth::Everything);
}

int samplesOfAll(const GpuShares &shares)
{
    return std::accumulate(shares.sets.begin(), shares.sets.end(), 0,
        [](int sum, const GpuShare &set) { return sum + set.samples() * set.replicas; });
}

double statesOfAll(const GpuShares &shares)
{
    return std::accumulate(shares.sets.begin(), shares.sets.end(), 0.0,
        [](double sum, const GpuShare &set) { return sum + set.stateShare * set.replicas; });
}

} // namespace

class GpuSharesTest : public QObject {
    Q_OBJECT
    const Plan m_lab = samplePlan("cephalo-lab");

private slots:
    void theLabsSharesAreThoseOfItsPlanner()
    {
        // 13 + 12 + 34 + 5 = 64 samples; 0.2253 + 3 · 0.2582 = 1 of the states
        const GpuShares shares = gpuShares(*evaluated(m_lab));
        QCOMPARE(shares.sets.size(), 4u);
        QVERIFY(!shares.areAlike && shares.isShared && shares.isLayered);
        QCOMPARE(shares.sets[2].name, QStringLiteral("RTX A6000"));
        QCOMPARE(shares.sets[2].samples(), 34);
        QCOMPARE(shares.sets[3].samples(), 5);
        QCOMPARE(samplesOfAll(shares), 64);
        QVERIFY(std::abs(statesOfAll(shares) - 1) < 1e-9);
        QVERIFY(std::abs(shares.gain - 2.86) < 0.005);
        QCOMPARE(std::ranges::count(shares.sets, true, &GpuShare::isSlowest), 1);
        QCOMPARE(shares.sets[1].gpus, (PoolGpus { { 0, 0 }, 1, 1 })); // the second of the two L4
        QCOMPARE(shareText(shares.sets[3], 64), QStringLiteral("5 of 64 samples, 25.8 % of the states"));
    }

    void whatASetComputesAndWaitsIsTheIteration()
    {
        // no optimizer and no overhead in measured layers: time + wait = iteration
        const GpuShares shares = gpuShares(*evaluated(m_lab));
        for (const GpuShare &set : shares.sets)
            QVERIFY(std::abs(set.time + set.wait - shares.duration) < 1e-6 * shares.duration);
    }

    void bytesOfStatesFollowTheirSharesAndAllFits()
    {
        // ZeRO 3 divides all of them: bytes / share is the same everywhere
        const GpuShares shares = gpuShares(*evaluated(m_lab));
        const double whole = shares.sets.front().states / shares.sets.front().stateShare;
        QVERIFY(whole > 0);
        for (const GpuShare &set : shares.sets) {
            QVERIFY(std::abs(set.states / set.stateShare / whole - 1) < 1e-6);
            QVERIFY(set.work > 0 && set.states + set.work <= set.capacity);
        }
        QVERIFY(shares.sets[2].work > shares.sets[3].work); // 34 samples against 5
    }

    void aPinHoldsForItsGpusAloneAndTheOthersShareTheRest()
    {
        const GpuShares before = gpuShares(*evaluated(m_lab));
        const PlanPtr pinned =
            withPin(m_lab, before.sets[3].gpus, { .work = microBatchesFor(8, before.sets[3], true) });
        QVERIFY(validatePlan(*pinned).empty());
        const GpuShares after = gpuShares(*evaluated(*pinned));
        QCOMPARE(samplesOfAll(after), 64);
        QCOMPARE(after.sets.back().samples(), 8);
        QVERIFY(after.sets.back().isWorkPinned && !after.sets.back().isStatePinned);
        QVERIFY(std::ranges::none_of(after.sets.begin(), std::prev(after.sets.end()), &GpuShare::isWorkPinned));
        QCOMPARE(*withoutPin(*pinned, after.sets.back().gpus), m_lab);
    }

    void ofTwoGpusOfAPoolTheSecondCanBePinned()
    {
        const PoolGpus first { { 0, 0 }, 0, 1 }, second { { 0, 0 }, 1, 1 };
        const PlanPtr one = withPin(m_lab, second, { .stateShare = 0.2 });
        QCOMPARE(one->heterogeneity.assign.size(), 2u);
        QVERIFY(!one->heterogeneity.assign.front().stateShare);
        QCOMPARE(one->heterogeneity.assign.back().stateShare, std::optional(0.2));
        const PlanPtr both = withPin(*one, first, { .stateShare = 0.2 });
        QCOMPARE(both->heterogeneity.assign.size(), 1u); // alike again: one entry for the pool
        QVERIFY(!both->heterogeneity.assign.front().gpus);
        const GpuShares shares = gpuShares(*evaluated(*one));
        QVERIFY(!shares.sets.front().isStatePinned && shares.sets[1].isStatePinned);
        QVERIFY(std::abs(shares.sets[1].stateShare - 0.2) < 1e-9);
        QVERIFY(std::abs(statesOfAll(shares) - 1) < 1e-9);
    }

    void tensorRanksOfAPinnedReplicaHoldPartsOfTheirOwn()
    {
        // two replicas of two GPUs hold 0.6 and 0.4 of the states: each GPU its half of the layers, all of the share
        Plan plan = m_lab;
        plan.parallelism.tensor = 2;
        const PlanPtr pinned = withPin(
            *withPin(plan, { { 0, 0 }, 0, 2 }, { .stateShare = 0.6 }), { { 0, 1 }, 0, 1 }, { .stateShare = 0.4 });
        QVERIFY(validatePlan(*pinned).empty());
        Plan tooMuch = *pinned;
        tooMuch.heterogeneity.assign.front().stateShare = 0.7; // 0.7 + 0.4
        QVERIFY(!validatePlan(tooMuch).empty());
    }

    void aPinOfEveryPoolThereStaysWhereItIs()
    {
        Plan plan = m_lab;
        RankPin every;
        every.datacenter = "lab";
        every.stateShare = 0.25;
        plan.heterogeneity.assign = { every };
        const PlanPtr next = withoutPin(plan, { { 0, 1 }, 0, 1 });
        for (const GpuShare &set : gpuShares(*evaluated(*next)).sets)
            QCOMPARE(set.isStatePinned, set.name != QStringLiteral("RTX A6000"));
    }

    void samplesSplitIntoMicroBatchesNearThoseThatThereAre()
    {
        GpuShare share;
        share.microBatch = 5;
        share.largestMicroBatch = 8;
        QCOMPARE(microBatchesFor(6, share, true).size, 6);
        QCOMPARE(microBatchesFor(13, share, true).size, 1); // prime and above the largest
        QCOMPARE(microBatchesFor(12, share, true).size, 6); // as near as 4, and larger
        QCOMPARE(microBatchesFor(16, share, true).size * microBatchesFor(16, share, true).count, 16);
        QCOMPARE(microBatchesFor(17, share, false).count, 3); // whole micro-batches of 5
    }

    void equalGpusAreAlike()
    {
        const GpuShares shares = gpuShares(*evaluated(samplePlan("gpt3-175b-1024-a100")));
        QVERIFY(shares.areAlike && !shares.isShared);
    }
};

TRAINYARD_GUILESS_TEST(GpuSharesTest)
#include "tst_gpu_shares.moc"
