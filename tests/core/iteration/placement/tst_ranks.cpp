// SPDX-License-Identifier: GPL-3.0-or-later
// Rank sets: what nothing tells apart is one set, what differs is costed and counted by itself.
#include "core/iteration/placement/ranks.h"
#include "tests/support/most_replicas.h"
#include "tests/support/test_program.h"

#include "core/evaluation/evaluate/estimate.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/memory/off_gpu.h"
#include "core/iteration/model_states/stage_states.h"
#include "tests/support/plans.h"
#include "tests/support/workloads.h"

#include <QTest>

#include <functional>
#include <memory>

using namespace trainyard;
using namespace trainyard::test;

namespace {

using Change = std::function<void(Pool &)>;

/// 16 GPUs in each of two pools of a datacenter: four replicas of tensor 4 each.
Plan twoPools(const Change &ofFirst, const Change &ofSecond)
{
    Plan plan = oneSite(2, 1);
    plan.parallelism.tensor = 4;
    plan.cluster.datacenters[0].pools.push_back(plan.cluster.datacenters[0].pools[0]);
    auto &pools = plan.cluster.datacenters[0].pools;
    pools[1].id = "other";
    for (Pool &pool : pools)
        pool.host = Host { 2048, 25, {} };
    ofFirst(pools[0]);
    ofSecond(pools[1]);
    return plan;
}

void asIs(Pool &) { }

void smallerNodes(Pool &pool)
{
    pool.nodes *= 2;
    pool.gpusPerNode /= 2;
}

void slowHost(Pool &pool)
{
    pool.host->gbytesPerSecondPerGpu = 5;
}

void fastDrives(Pool &pool)
{
    pool.ssd = Ssd { 40, 40, 10, 0, 1, 1, 1, {} };
}
void slowDrives(Pool &pool)
{
    pool.ssd = Ssd { 4, 4, 10, 0, 1, 1, 1, {} };
}

Workload placed(const Plan &plan)
{
    return test::placedWorkload(plan, PlacementMode::PipelineAcross);
}

double secondsOf(const Plan &plan)
{
    return evaluatedWithMost(plan)->metrics.iterationTime.value();
}

Plan with(Plan plan, const std::function<void(Plan &)> &change)
{
    change(plan);
    return plan;
}

/// The same plan on three clusters: a mix takes as long as its slower half everywhere, and longer than its faster half.
void compareMix(const Change &fast, const Change &slow, const std::function<void(Plan &)> &strategy)
{
    const double mixed = secondsOf(with(twoPools(fast, slow), strategy));
    QCOMPARE(mixed, secondsOf(with(twoPools(slow, fast), strategy)));
    QCOMPARE(mixed, secondsOf(with(twoPools(slow, slow), strategy)));
    QVERIFY(mixed > 1.001 * secondsOf(with(twoPools(fast, fast), strategy)));
}

} // namespace

class TestRanks : public QObject {
    Q_OBJECT
private slots:
    void poolsThatNothingTellsApartAreOneSet()
    {
        const auto isOne = [](const Change &change) {
            const Workload workload = placed(twoPools(asIs, change));
            return workload.layout.data == 8 && workload.layout.classes.size() == 1
                && unlikeSets(workload, 0).size() == 1;
        };
        QVERIFY(isOne(asIs));
        QVERIFY(isOne([](Pool &pool) { pool.usdPerGpuHour = 99; }));
    }

    void poolsThatDifferInNodesHostOrDrivesAreDifferentSets()
    {
        for (const Change &change : { Change(smallerNodes), Change(slowHost), Change(slowDrives) }) {
            const Workload workload = placed(twoPools(asIs, change));
            QCOMPARE(workload.layout.data, 8);
            QCOMPARE(workload.layout.classes.size(), std::size_t(2));
            const std::vector<RankSet> sets = unlikeSets(workload, 0);
            QCOMPARE(sets.size(), std::size_t(2));
            for (int pool = 0; pool < 2; ++pool) {
                QCOMPARE(sets[std::size_t(pool)].at, (StageLocation { 0, pool }));
                QCOMPARE(sets[std::size_t(pool)].replicasHere, 8); // they reduce together
            }
        }
    }

    /// Eight ranks four GPUs apart: two of them would share a node of 8, but the collective is as slow as nodes of 4
    /// make it.
    void aGroupsLevelsFollowTheNodesOfItsSet()
    {
        const Workload workload = placed(twoPools(asIs, smallerNodes));
        const std::vector<RankSet> sets = unlikeSets(workload, 0);
        QCOMPARE(sets[0].levels(GroupKind::Data).ranks, 8);
        QCOMPARE(unlikeSets(placed(twoPools(asIs, asIs)), 0)[0].levels(GroupKind::Data).together, 2);
        QCOMPARE(sets[0].levels(GroupKind::Data).together, 1);
        QCOMPARE(sets[1].levels(GroupKind::Data).ranks, 8);
        QCOMPARE(sets[1].levels(GroupKind::Data).together, 1);
        QCOMPARE(sets[1].levels(GroupKind::Tensor).together, 4);
    }

    void theSmallerNodesDecide()
    {
        compareMix(asIs, smallerNodes, [](Plan &) {});
    }

    void theSlowerHostDecides()
    {
        compareMix(asIs, slowHost, [](Plan &plan) { plan.memory.optimizerOffload = OptimizerOffload::Host; });
    }

    void theSlowerDrivesDecide()
    {
        compareMix(fastDrives, slowDrives, [](Plan &plan) { plan.memory.optimizerOffload = OptimizerOffload::Ssd; });
    }

    void theClosedFormTakesTheSlowestSet()
    {
        const auto estimated = [](const Change &first, const Change &second) {
            return estimate(placed(with(twoPools(first, second), [](Plan &plan) {
                plan.memory.optimizerOffload = OptimizerOffload::Host;
            }))).iteration.value;
        };
        QCOMPARE(estimated(asIs, slowHost), estimated(slowHost, slowHost));
        QVERIFY(estimated(asIs, slowHost) > 1.001 * estimated(asIs, asIs));
    }

    /// How many parameters the GPU updates itself follows the way to the host: each pool keeps what it would keep
    /// alone, and the GPUs that keep more to themselves decide what fits.
    void eachSetKeepsWhatItsHostLeavesToIt()
    {
        const auto strategy = [](Plan &plan) {
            plan.memory.optimizerOffload = OptimizerOffload::Interleaved;
            plan.parallelism.zeroStage = 2;
        };
        const auto hostOf = [&](const Change &first, const Change &second) {
            const EvaluationPtr evaluation = evaluatedWithMost(with(twoPools(first, second), strategy));
            Workload workload = placed(*evaluation->plan);
            return hostMemory(workload, evaluation->metrics.memory->perStage);
        };
        const auto mixed = hostOf(asIs, slowHost), fast = hostOf(asIs, asIs), slow = hostOf(slowHost, slowHost);
        QCOMPARE(mixed.size(), std::size_t(2));
        QVERIFY(fast[0].states != slow[0].states);
        QCOMPARE(mixed[0].states, fast[0].states);
        QCOMPARE(mixed[1].states, slow[1].states);
        const auto gradients = [&](const Change &first, const Change &second) {
            const Workload work = placed(with(twoPools(first, second), strategy));
            double most = 0;
            for (const RankSet &ranks : unlikeSets(work, 0))
                most = std::max(most, stageStates(work, ranks).gradients);
            return most;
        };
        QCOMPARE(gradients(slowHost, asIs), std::max(gradients(asIs, asIs), gradients(slowHost, slowHost)));
        QCOMPARE(gradients(asIs, slowHost), gradients(slowHost, asIs));
    }

    /// Stages of 6, 10, 10 and 6 layers, the token table on the first and the output matrix on the last: only the third
    /// is like the one before it, and that in one pool.
    void aStageIsLikeTheOneBeforeWithAsManyLayersInItsPlace()
    {
        const auto likeness = [](const Workload &work) {
            std::vector<bool> like;
            for (int stage = 0; stage < work.degrees.pipeline; ++stage)
                like.push_back(isLikeStageBefore(work, stage));
            return like;
        };
        Plan plan = oneSite(4, 4);
        plan.placement.layers = { 6, 10, 10, 6 };
        Workload work = placed(plan);
        QCOMPARE(likeness(work), (std::vector { false, false, true, false }));
        work.layout.classes.front().locations[2].pool = 1;
        QCOMPARE(likeness(work), (std::vector { false, false, false, false }));
    }
};

TRAINYARD_APPLESS_TEST(TestRanks)
#include "tst_ranks.moc"
