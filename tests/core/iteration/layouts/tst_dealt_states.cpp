// SPDX-License-Identifier: GPL-3.0-or-later
// Shares of the states by memory: they add up, they make a plan fit that evenly shared would not, and what is full is
// full by as much as the others.
#include "core/iteration/layouts/dealt_states.h"
#include "tests/support/mixed_plans.h"
#include "tests/support/most_replicas.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Replicas of Llama 3 8B, whole on each GPU but for what ZeRO divides, on 4 H200 and 4 A100.
Plan unequalMemory(StateSharing state)
{
    Plan plan = mixedReplicas();
    plan.cluster.datacenters.front().pools = { pool("large", "h200-sxm-141gb", 1, 4),
        pool("small", "a100-sxm-80gb", 1, 4) };
    plan.workload.model = "llama-3-8b";
    plan.workload.sequenceLength = 2048;
    plan.heterogeneity.state = state;
    return plan;
}

double sumOfShares(const Layout &layout)
{
    double sum = 0;
    for (const PipelineClass &c : layout.classes)
        sum += c.pipelines * c.stateShare;
    return sum;
}

/// The share of each GPU of the pool.
double shareOf(const Layout &layout, int pool)
{
    const auto found =
        std::ranges::find_if(layout.classes, [&](const PipelineClass &c) { return c.locations.front().pool == pool; });
    return found->stateShare;
}

/// With A100 that have so much memory.
Plan withSmall(Plan plan, std::int64_t bytes)
{
    GpuSpec small = *builtinCatalogue().gpu("a100-sxm-80gb");
    small.memoryBytes = bytes;
    Pool &pool = plan.cluster.datacenters.front().pools[1];
    pool.inlineGpu = small;
    pool.gpu.clear();
    return plan;
}

} // namespace

class TestDealtStates : public QObject {
    Q_OBJECT

private slots:
    void whatFitsEvenlyStaysEven()
    {
        const auto even = evaluatedWithMost(unequalMemory(StateSharing::Even)),
                   dealt = evaluatedWithMost(unequalMemory(StateSharing::Balanced));
        QCOMPARE(dealt->layout.classes, even->layout.classes);
        QCOMPARE(*dealt->metrics.iterationTime, *even->metrics.iterationTime);
    }

    // sum over GPUs of r = 1; the small GPUs are full to the byte but for rounding, and hold less than 1 / N.
    void smallGpusHoldWhatTheyHaveRoomFor()
    {
        const auto roomy = evaluatedWithMost(unequalMemory(StateSharing::Even));
        const std::int64_t small = roomy->metrics.memory->perStage[0].device - 2'000'000'000;
        const auto even = evaluatedWithMost(withSmall(unequalMemory(StateSharing::Even), small)),
                   dealt = evaluatedWithMost(withSmall(unequalMemory(StateSharing::MinParams), small));
        QVERIFY(!even->feasible());
        QVERIFY(dealt->feasible());
        QVERIFY(std::abs(sumOfShares(dealt->layout) - 1) < 1e-9);
        QVERIFY(shareOf(dealt->layout, 1) < 0.125);
        QVERIFY(shareOf(dealt->layout, 0) > 0.125);
        const StageMemory &fullest = dealt->metrics.memory->perStage[0];
        QCOMPARE(fullest.capacity, small);
        QVERIFY(fullest.device <= small && fullest.device > small - 1'000'000);
    }

    // (bytes beside + r S) / capacity is one number for all: the fullest GPU is as empty as can be.
    void equalUtilizationIsOneLevel()
    {
        const auto dealt = evaluatedWithMost(unequalMemory(StateSharing::MinUtilization)),
                   even = evaluatedWithMost(unequalMemory(StateSharing::Even));
        QVERIFY(std::abs(sumOfShares(dealt->layout) - 1) < 1e-9);
        const auto fill = [](const Evaluation &e) {
            return double(e.metrics.memory->perStage[0].device) / double(e.metrics.memory->perStage[0].capacity);
        };
        QVERIFY(fill(*dealt) < fill(*even));
    }

    // Reduction and gather over uneven shares take `uneven_collective_penalty` times as long; over even ones they do
    // not.
    void unevenExchangesPayThePenalty()
    {
        const auto timeOf = [](Plan plan, double penalty) {
            plan.heterogeneity.unevenPenalty = penalty;
            return *evaluatedWithMost(plan)->metrics.iterationTime;
        };
        const Plan even = unequalMemory(StateSharing::Balanced), uneven = unequalMemory(StateSharing::MinUtilization);
        QVERIFY(timeOf(uneven, 2) > timeOf(uneven, 1));
        QCOMPARE(timeOf(even, 2), timeOf(even, 1));
    }

    void pinnedSharesStayAndTheRestIsDivided()
    {
        Plan plan = unequalMemory(StateSharing::Even);
        RankPin pin;
        pin.datacenter = "a";
        pin.pool = "small";
        pin.stateShare = 0.05;
        plan.heterogeneity.assign = { pin };
        const auto dealt = evaluatedWithMost(plan);
        QVERIFY(dealt->feasible());
        QCOMPARE(shareOf(dealt->layout, 1), 0.05);
        QCOMPARE(shareOf(dealt->layout, 0), 0.2); // (1 - 4 * 0.05) / 4
    }

    void pinnedSharesThatMissTheWholeAreRefused()
    {
        Plan plan = unequalMemory(StateSharing::Even);
        RankPin pin;
        pin.datacenter = "a";
        pin.stateShare = 0.1; // 8 * 0.1
        plan.heterogeneity.assign = { pin };
        QVERIFY(!evaluatedWithMost(plan)->feasible());
    }

    void nothingIsDividedWithoutZero()
    {
        Plan plan = unequalMemory(StateSharing::MinUtilization);
        plan.parallelism.zeroStage = 0;
        for (const PipelineClass &c : evaluatedWithMost(plan)->layout.classes)
            QCOMPARE(c.stateShare, 0.0);
    }
};

TRAINYARD_APPLESS_TEST(TestDealtStates)
#include "tst_dealt_states.moc"
