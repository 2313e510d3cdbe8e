// SPDX-License-Identifier: GPL-3.0-or-later
// Activations that leave unequal GPUs, layer by layer and micro-batch by micro-batch, with sizes of their own and with
// shares that are dealt: every sample and every byte is counted once, nobody holds more than there is, and dealing with
// what offload frees is never worse than dealing without. scripts/trials 20 mixed_offload draws 3,000 plans.
#include "tests/core/evaluation/evaluate/pairs/conservation.h"
#include "tests/core/evaluation/evaluate/random_valid_plans.h"
#include "tests/support/test_program.h"
#include "tests/support/trials.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr int kPlans = 150;

EvaluationPtr spansOf(const Plan &plan, EvaluationWorkspace &workspace)
{
    auto result = run(std::make_shared<const Plan>(plan), Depth::Spans, { builtinCatalogue(), workspace });
    return result ? *result : nullptr;
}

class MixedOffloadPlan {
public:
    explicit MixedOffloadPlan(unsigned seed)
        : m_draws(seed)
    {
    }

    Plan plan()
    {
        Plan plan;
        Datacenter &site = plan.cluster.datacenters.emplace_back();
        site.id = "lab";
        site.fabricGbpsPerGpu = one({ 25.0, 100.0, 400.0 });
        for (int i = whole(1, 3); i > 0; --i)
            site.pools.push_back(pool(i));
        plan.workload.model = one({ "gpt-3-1.3b", "gpt-3-2.7b", "opt-1.3b" });
        plan.workload.sequenceLength = one({ 512, 1024, 2048 });
        plan.workload.globalBatch = site.gpus() * whole(1, 6) + (whole(0, 1) ? whole(0, 5) : 0);
        plan.parallelism.zeroStage = one({ 2, 3, 3 });
        plan.parallelism.tensor = one({ 1, 1, 2 });
        plan.stack = { "fsdp", {} };
        MemoryStrategy &memory = plan.memory;
        memory.recompute = one({ Recompute::Full, Recompute::Full, Recompute::None, Recompute::Selective });
        memory.activationOffload = one({ ActivationOffload::Host, ActivationOffload::Ssd });
        if (whole(0, 2) == 0)
            memory.offloadFraction = 0.1 * whole(1, 10);
        memory.offloadMinElements = one({ 1024, 1024 * 1024, 8 * 1024 * 1024 });
        memory.offloadAhead = one({ 1, 1, 2 });
        if (whole(0, 5) == 0)
            memory.offloadPolicy = one({ OffloadPolicy::Memo, OffloadPolicy::Karma, OffloadPolicy::ProTrain });
        Heterogeneity &h = plan.heterogeneity;
        h.accumulation = whole(0, 2) ? Accumulation::Layered : Accumulation::Standard;
        h.compute = one({ ComputeSharing::Balanced, ComputeSharing::Balanced, ComputeSharing::Even });
        h.state = one({ StateSharing::Even, StateSharing::MinParams, StateSharing::MinUtilization });
        h.boundaryOffload = whole(0, 1);
        h.gatherPrefetch = whole(0, 3) > 0;
        h.memoryFraction = one({ 0.8, 0.9, 1.0 });
        if (whole(0, 3) == 0) { // a size of their own for some
            RankPin pin;
            pin.datacenter = site.id;
            pin.pool = site.pools.front().id;
            pin.microBatch = one({ 1, 2, 4 });
            h.assign = { pin };
        }
        return plan;
    }

private:
    Pool pool(int number)
    {
        Pool pool;
        pool.id = "pool-" + std::to_string(number);
        pool.gpu = one({ "h100-sxm-80gb", "a100-sxm-40gb", "a6000-48gb", "l4-24gb", "a10g-24gb", "t4-16gb" });
        pool.nodes = whole(1, 3);
        pool.gpusPerNode = one({ 1, 2, 4 });
        pool.host = Host { double(whole(256, 4096)), double(whole(4, 60)), {} };
        if (whole(0, 4) > 0) // else activations find no drives there
            pool.ssd = Ssd { double(whole(2, 48)), double(whole(2, 48)), 10, 2000, 1, 1, one({ 1, 2 }), {} };
        return pool;
    }
    template <class T> T one(std::initializer_list<T> values)
    {
        return values.begin()[m_draws.whole(0, int(values.size()) - 1)];
    }
    int whole(int low, int high) { return m_draws.whole(low, high); }

    PortableDraws m_draws;
};

} // namespace

class TestMixedOffload : public QObject {
    Q_OBJECT
private slots:
    void samplesAndBytesAreCountedOnce()
    {
        EvaluationWorkspace workspace;
        Findings findings;
        int ran = 0, left = 0, layered = 0;
        for (int seed = 0; seed < trials(kPlans); ++seed) {
            const Plan plan = MixedOffloadPlan(unsigned(seed)).plan();
            const EvaluationPtr e = spansOf(plan, workspace);
            if (!e || !e->metrics.iterationTime)
                continue;
            ++ran;
            layered += plan.heterogeneity.isLayered();
            left += e->metrics.offload && e->metrics.offload->bytesPerGpu > 0;
            checkFinite(findings, unsigned(seed), e->metrics);
            checkSums(findings, unsigned(seed), e->metrics);
            checkShares(findings, unsigned(seed), e->metrics);
            checkGpus(findings, unsigned(seed), *e);
            checkMemory(findings, unsigned(seed), *e);
            checkOffload(findings, unsigned(seed), *e);
            findings.expect(
                std::abs(e->metrics.breakdown->total() - *e->metrics.iterationTime) < 1e-6 * *e->metrics.iterationTime,
                unsigned(seed), "time adds up");
        }
        QVERIFY2(findings.text().empty(), findings.text().c_str());
        QVERIFY2(ran > trials(kPlans) / 2 && left > ran / 4 && layered > ran / 4,
            qPrintable(
                QStringLiteral("%1 ran, %2 with activations away, %3 layer by layer").arg(ran).arg(left).arg(layered)));
    }

    // As much of the share of the states on all GPUs as there is, and every sample once, whatever leaves.
    void sharesAddUp()
    {
        EvaluationWorkspace workspace;
        int dealt = 0;
        for (int seed = 0; seed < trials(kPlans); ++seed) {
            const Plan plan = MixedOffloadPlan(unsigned(seed)).plan();
            const EvaluationPtr e = spansOf(plan, workspace);
            if (!e || !plan.heterogeneity.isLayered() || e->layout.data == 0 || !e->layout.shares.why.empty())
                continue;
            ++dealt;
            int samples = 0;
            double states = 0;
            for (const ReplicaShare &share : e->layout.shares.ranks) {
                samples += share.pipelines * share.samples;
                states += share.pipelines * share.stateShare;
            }
            QCOMPARE(samples, plan.workload.globalBatch);
            QVERIFY2(std::abs(states - 1) < 1e-9, qPrintable(QString::number(seed)));
        }
        QVERIFY(dealt > trials(kPlans) / 8);
    }

    // With activations that may leave, whoever deals has no less room: an iteration that costs no stall is no longer
    // than the same shares' without offload. Shares dealt as without are one of those that are simulated.
    void dealingWithWhatLeavesIsNoSlowerThanDealingWithout()
    {
        EvaluationWorkspace workspace;
        int compared = 0, faster = 0;
        for (int seed = 0; seed < trials(kPlans); ++seed) {
            Plan plan = MixedOffloadPlan(unsigned(seed)).plan();
            plan.heterogeneity.accumulation = Accumulation::Layered;
            plan.heterogeneity.boundaryOffload = false;
            plan.memory.offloadFraction.reset();
            plan.memory.offloadPolicy = OffloadPolicy::SsdTrain;
            const EvaluationPtr with = spansOf(plan, workspace);
            plan.memory.activationOffload = ActivationOffload::None;
            const EvaluationPtr without = spansOf(plan, workspace);
            if (!with || !without || !without->feasible() || !without->metrics.iterationTime)
                continue;
            ++compared;
            QVERIFY2(with->feasible(), qPrintable(QString::number(seed)));
            const double slower = *with->metrics.iterationTime / *without->metrics.iterationTime;
            faster += slower < 0.99;
            QVERIFY2(slower < 1.002, qPrintable(QStringLiteral("%1: %2").arg(seed).arg(slower)));
        }
        QVERIFY2(compared > trials(kPlans) / 4 && faster > 0,
            qPrintable(QStringLiteral("%1 compared, %2 faster").arg(compared).arg(faster)));
    }
};

TRAINYARD_APPLESS_TEST(TestMixedOffload)
#include "tst_mixed_offload.moc"
