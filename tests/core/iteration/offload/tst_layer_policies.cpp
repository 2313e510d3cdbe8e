// SPDX-License-Identifier: GPL-3.0-or-later
// MEMO, KARMA and ProTrain on the timeline: what they move and recompute, in time, memory and bytes, against their
// closed forms and against keeping everything.
#include "core/facts/plan/enum_names.h"
#include "core/iteration/iteration_costs/iteration_costs.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/offload/activation_policies.h"
#include "core/iteration/offload/layer_policy.h"
#include "core/iteration/offload/paths.h"
#include "tests/core/iteration/offload/policy_plans.h"
#include "tests/support/test_program.h"
#include "tests/support/workloads.h"

#include <QTest>

#include <algorithm>

using namespace offload;
using test::evaluated;

namespace {

constexpr OffloadPolicy kPolicies[] = { OffloadPolicy::Memo, OffloadPolicy::Karma, OffloadPolicy::ProTrain };
constexpr OffloadPolicy kByRoom[] = { OffloadPolicy::Karma, OffloadPolicy::ProTrain };

double timeOf(const Plan &plan)
{
    return *evaluated(plan)->metrics.iterationTime;
}

bool isNear(double a, double b, double tolerance)
{
    return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

int problemsAbout(const Evaluation &evaluation, const char *where)
{
    return int(std::ranges::count(evaluation.problems, std::string(where), &Problem::where));
}

/// Layer and limits of a plan with one stage, as blocks.
struct ClosedForm {
    std::vector<Block> blocks;
    BlockLimits limits;
    explicit ClosedForm(const Plan &plan)
    {
        const Workload workload = test::placedWorkload(plan, PlacementMode::PipelineAcross);
        const Costs costs = *cost(workload);
        StageCoster coster(workload);
        const auto layers =
            chunkLayers(workload, workload.layout.chunks[0][0], coster.parts(workload.layout.classes[0], 0));
        for (const PolicyLayer &layer : layers)
            blocks.push_back({ Bytes { layer.module.offloadable }, Bytes { layer.input }, layer.module.forward,
                layer.module.inputGrad + layer.module.weightGrad });
        const PolicyRoom room = policyRoom(workload, 0, costs.iteration.classes[0].program);
        const OffloadPath path = offloadPaths(workload).of[0][0];
        limits = { Bytes { room.room }, BytesPerSecond { path.storeCap }, BytesPerSecond { path.loadCap },
            room.inFlight - 1, Bytes { room.workspace }, Bytes { room.turn }, 1 };
    }
    [[nodiscard]] double plain() const
    {
        double seconds = 0;
        for (const Block &block : blocks)
            seconds += (block.forward + block.backward).value;
        return seconds;
    }
};

} // namespace

class TstLayerPolicies : public QObject {
    Q_OBJECT
private slots:
    /// What has no room is swapped, and no swap shows.
    void anInfiniteLinkSwapsWithoutAStall()
    {
        for (const OffloadPolicy policy : kByRoom) {
            const Plan plan = policyPlan({ .policy = policy, .rate = 1e6 });
            const auto evaluation = evaluated(plan), all = evaluated(kept(plan));
            QVERIFY(!all->metrics.memory->fits && evaluation->metrics.memory->fits);
            QVERIFY(evaluation->metrics.offload->layersSwapped > 0);
            QCOMPARE(evaluation->metrics.offload->layersRecomputed, 0);
            QVERIFY(evaluation->metrics.offload->stall < 1e-5);
            QVERIFY(isNear(*evaluation->metrics.iterationTime, *all->metrics.iterationTime, 1e-5));
        }
    }

    void withoutALinkLayersAreComputedAgainOrKept()
    {
        for (const OffloadPolicy policy : kByRoom) {
            Plan plan = policyPlan({ .policy = policy });
            plan.memory.activationOffload = ActivationOffload::Ssd; // and no drives
            const auto tight = evaluated(plan);
            QCOMPARE(tight->metrics.offload->layersSwapped, 0);
            QVERIFY(tight->metrics.offload->layersRecomputed > 0 && tight->metrics.offload->layersKept > 0);
            QCOMPARE(tight->metrics.offload->bytesPerGpu, 0.0);
            QVERIFY(tight->metrics.memory->fits);
            plan.cluster.datacenters[0].pools[0].inlineGpu->memoryBytes *= 4;
            const auto wide = evaluated(plan), all = evaluated(kept(plan));
            QCOMPARE(wide->metrics.offload->layersKept, 16);
            QCOMPARE(*wide->metrics.iterationTime, *all->metrics.iterationTime);
            QCOMPARE(wide->metrics.memory->peak, all->metrics.memory->peak);
        }
    }

    /// Every layer recomputed is full recomputation: the same time, and the same bytes at the peak.
    void recomputingEveryLayerIsFullRecomputation()
    {
        Plan plan = policyPlan({ .policy = OffloadPolicy::Karma, .memoryGb = 74 });
        plan.memory.activationOffload = ActivationOffload::Ssd;
        const auto karma = evaluated(plan);
        QCOMPARE(karma->metrics.offload->layersRecomputed, 16);
        Plan full = kept(plan);
        full.memory.recompute = Recompute::Full;
        const auto again = evaluated(full);
        QVERIFY(isNear(*karma->metrics.iterationTime, *again->metrics.iterationTime, 1e-6));
        QVERIFY(isNear(double(karma->metrics.memory->peak), double(again->metrics.memory->peak), 1e-6));
        QVERIFY(isNear(*karma->metrics.hfu, *again->metrics.hfu, 1e-6));
    }

    /// alpha = 1: (n - 2) whole layers leave and nothing is recomputed.
    void memoWithAllTokensStoresAll()
    {
        Plan plan = policyPlan({ .policy = OffloadPolicy::Memo, .rate = 1e6 });
        plan.memory.offloadFraction = 1;
        const auto evaluation = evaluated(plan);
        const OffloadMetrics &offload = *evaluation->metrics.offload;
        QCOMPARE(offload.recompute, 0.0);
        QCOMPARE(*evaluation->metrics.hfu, *evaluation->metrics.mfu);
        const double layer = ClosedForm(plan).blocks.front().activations.value;
        QVERIFY(isNear(offload.bytesPerGpu + offload.bytesDropped, 14 * layer, 1e-9));
    }

    /// alpha = 0: (n - 2) (S_in + S_attn), with S_in = 2 b s h and S_attn = 2 b s a d and the log-sum-exp, 4 b s a.
    void memoWithoutTokensStoresInputAndAttentionOnly()
    {
        Plan plan = policyPlan({ .policy = OffloadPolicy::Memo, .rate = 1e6 });
        plan.memory.offloadFraction = 0;
        const OffloadMetrics offload = *evaluated(plan)->metrics.offload;
        const double tokens = 8192;
        QVERIFY(
            isNear(offload.bytesPerGpu + offload.bytesDropped, 14 * tokens * (2 * 4096 + 2 * 32 * 128 + 4 * 32), 1e-9));
        QVERIFY(offload.recompute > 0);
    }

    /// t = t_keep + (n - 2) (1 - alpha) t_others: what MEMO's alpha lets leave hides, and the core of attention is not
    /// repeated. The tolerance is the rounding to nanoseconds, one a module and direction.
    void memoTakesTheTimeOfItsClosedForm()
    {
        for (const double rate : { 25.0, 50.0, 80.0, 1e4 }) {
            const Plan plan = policyPlan({ .policy = OffloadPolicy::Memo, .rate = rate });
            const auto evaluation = evaluated(plan);
            const OffloadMetrics &offload = *evaluation->metrics.offload;
            const ClosedForm form(plan);
            const MemoLayer layer { form.blocks.front().input, Bytes { 8192.0 * (2 * 4096 + 4 * 32) },
                form.blocks.front().activations - form.blocks.front().input - Bytes { 8192.0 * (2 * 4096 + 4 * 32) },
                form.blocks.front().forward };
            const double alpha = memoTokenShare(layer, 16, form.limits.out, Bytes { 1e18 });
            QVERIFY(isNear(*offload.tokenShare, alpha, 1e-9));
            QVERIFY(std::abs(*evaluation->metrics.iterationTime - timeOf(kept(plan)) - offload.recompute) < 100e-9);
            const double recompute = 14 * (1 - alpha) * layer.forward.value;
            QVERIFY(offload.recompute <= recompute + 1e-9);
            QVERIFY(alpha == 1 || offload.recompute > 0.5 * recompute);
        }
    }

    /// Two buffers in turns and two layers that stay: no more than four layers at once.
    void memoHoldsFourLayersAtMost()
    {
        const Plan plan = policyPlan({ .policy = OffloadPolicy::Memo });
        const auto evaluation = evaluated(plan), all = evaluated(kept(plan));
        const Block layer = ClosedForm(plan).blocks.front();
        const double spared = double(all->metrics.memory->peak - evaluation->metrics.memory->peak);
        QVERIFY(spared >= (16 - 4) * layer.activations.value);
    }

    /// One stage, one micro-batch: the timeline takes the closed form's time, less at most one block's way out and
    /// back: the last block to leave is the first to be needed, and used where it is instead of being waited for (data
    /// forwarding).
    void blocksTakeTheTimeOfTheirClosedForm()
    {
        for (const OffloadPolicy policy : kByRoom) {
            for (const double rate : { 2.0, 10.0, 25.0, 40.0, 60.0, 90.0, 150.0 }) {
                for (const double memory : { 77.0, 82.0, 86.0, 92.0 }) {
                    const Plan plan = policyPlan({ .policy = policy, .rate = rate, .memoryGb = memory });
                    const ClosedForm form(plan);
                    const BlockPlan blocks = policy == OffloadPolicy::Karma ? karma(form.blocks, form.limits)
                                                                            : proTrain(form.blocks, form.limits);
                    const auto evaluation = evaluated(plan);
                    const OffloadMetrics &offload = *evaluation->metrics.offload;
                    QCOMPARE(offload.layersSwapped, int(std::ranges::count(blocks.fates, BlockFate::Swap)));
                    QCOMPARE(offload.layersRecomputed, int(std::ranges::count(blocks.fates, BlockFate::Recompute)));
                    const double more = *evaluation->metrics.iterationTime - timeOf(kept(plan)),
                                 closed = blocks.time.value - form.plain();
                    const double way = (form.blocks.front().activations / form.limits.out
                        + form.blocks.front().activations / form.limits.in)
                                           .value;
                    QVERIFY2(more <= closed + 1e-6,
                        qPrintable(QStringLiteral("%1 %2: %3 %4").arg(rate).arg(memory).arg(more).arg(closed)));
                    QVERIFY2(more >= closed - way - 1e-6,
                        qPrintable(QStringLiteral("%1 %2: %3 %4").arg(rate).arg(memory).arg(more).arg(closed)));
                }
            }
        }
    }

    void timeFallsWithBandwidthAndWithRoom()
    {
        for (const OffloadPolicy policy : kByRoom) {
            for (const double memory : { 80.0, 86.0 }) {
                double last = 1e18;
                for (const double rate : { 0.5, 2.0, 5.0, 10.0, 20.0, 30.0, 40.0, 60.0, 80.0, 120.0, 200.0, 1e5 }) {
                    const double time = timeOf(policyPlan({ .policy = policy, .rate = rate, .memoryGb = memory }));
                    QVERIFY2(time <= last * (1 + 1e-6),
                        qPrintable(QStringLiteral("%1 %2: %3 > %4").arg(rate).arg(memory).arg(time).arg(last)));
                    last = time;
                }
            }
            for (const double rate : { 1.0, 20.0, 50.0, 100.0 }) {
                double last = 1e18;
                for (double memory = 77; memory < 110; memory += 3) {
                    const double time = timeOf(policyPlan({ .policy = policy, .rate = rate, .memoryGb = memory }));
                    QVERIFY2(time <= last * (1 + 1e-6),
                        qPrintable(QStringLiteral("%1 %2: %3 > %4").arg(rate).arg(memory).arg(time).arg(last)));
                    last = time;
                }
            }
        }
        double last = 1e18; // MEMO's share grows with the link; its memory does not depend on the GPU's
        for (const double rate : { 25.0, 50.0, 100.0, 200.0, 1e4 }) {
            const double time = timeOf(policyPlan({ .policy = OffloadPolicy::Memo, .rate = rate }));
            QVERIFY(time <= last);
            last = time;
        }
    }

    /// written = read + forwarded, no peak above keeping's, and breakdowns that add up, in every schedule that lets
    /// activations leave.
    void bytesAndPeaksBalanceInEverySchedule()
    {
        for (const OffloadPolicy policy : kPolicies) {
            for (const ScheduleKind schedule : { ScheduleKind::OneFOneB, ScheduleKind::GPipe, ScheduleKind::Interleaved,
                     ScheduleKind::ZbH1, ScheduleKind::ZbV, ScheduleKind::Chimera }) {
                for (const double rate : { 3.0, 40.0, 400.0 }) {
                    const Plan plan = policyPlan({ .policy = policy,
                        .rate = rate,
                        .memoryGb = 34,
                        .layers = 32,
                        .stages = 4,
                        .microBatches = 8,
                        .schedule = schedule });
                    const auto evaluation = evaluated(plan), all = evaluated(kept(plan));
                    const OffloadMetrics &offload = *evaluation->metrics.offload;
                    QVERIFY(offload.layersSwapped + offload.layersRecomputed > 0);
                    QVERIFY(std::abs(offload.bytesPerGpu - offload.bytesRead - offload.bytesForwarded)
                        <= 1e-9 * offload.bytesPerGpu);
                    const Metrics &m = evaluation->metrics;
                    QVERIFY(isNear(m.breakdown->total(), *m.iterationTime, 1e-6));
                    QVERIFY(*m.iterationTime >= *all->metrics.iterationTime * (1 - 1e-6));
                    for (std::size_t stage = 0; stage < m.memory->perStage.size(); ++stage)
                        QVERIFY(m.memory->perStage[stage].peak <= all->metrics.memory->perStage[stage].peak);
                    std::int64_t highest = 0;
                    for (const auto &step : evaluation->memoryCurves.front())
                        highest = std::max(highest, step.bytes);
                    QCOMPARE(highest, m.memory->perStage.front().device);
                }
            }
        }
    }

    /// The room counts the micro-batches in flight: a plan that does not fit does by either policy, on every stage.
    void theRoomIsThatOfAllMicroBatchesInFlight()
    {
        for (const OffloadPolicy policy : kByRoom) {
            for (const double rate : { 5.0, 40.0, 100.0 }) {
                for (const int microBatches : { 4, 16 }) {
                    const Plan plan = policyPlan({ .policy = policy,
                        .rate = rate,
                        .memoryGb = 50,
                        .layers = 32,
                        .stages = 4,
                        .microBatches = microBatches });
                    const auto evaluation = evaluated(plan);
                    QVERIFY(!evaluated(kept(plan))->metrics.memory->fits);
                    QVERIFY(evaluation->metrics.memory->fits);
                    QCOMPARE(evaluation->metrics.offload->policyStage, 0); // most are in flight there
                }
            }
        }
    }

    void anIterationSaysOnceWhatItsPolicyDoes()
    {
        for (const OffloadPolicy policy : kPolicies) {
            const auto evaluation = evaluated(policyPlan({ .policy = policy }));
            QCOMPARE(problemsAbout(*evaluation, "memory.offload_policy"), 1);
            const auto said =
                std::ranges::find(evaluation->problems, std::string("memory.offload_policy"), &Problem::where);
            QCOMPARE(said->severity, Severity::Note);
            QVERIFY(said->text.starts_with(labelOf(policy)));
            QVERIFY(said->text.find("SSDTrain") == std::string::npos);
        }
        QCOMPARE(
            problemsAbout(*evaluated(policyPlan({ .policy = OffloadPolicy::SsdTrain })), "memory.offload_policy"), 0);
    }

    /// Recomputation in the plan has decided what a policy would: it rests, says so, and offers both ways out.
    void aPlanThatRecomputesDecidesItself()
    {
        for (const Recompute recompute : { Recompute::Selective, Recompute::Full }) {
            for (const OffloadPolicy policy : kPolicies) {
                Plan plan = policyPlan({ .policy = policy });
                plan.memory.recompute = recompute;
                const auto evaluation = evaluated(plan);
                const auto said =
                    std::ranges::find(evaluation->problems, std::string("memory.offload_policy"), &Problem::where);
                QVERIFY(said != evaluation->problems.end());
                QCOMPARE(said->severity, Severity::Warning);
                QCOMPARE(said->fixes.size(), std::size_t(2));
                QCOMPARE(said->fixes[0].plan->memory.recompute, Recompute::None);
                QCOMPARE(said->fixes[0].plan->memory.offloadPolicy, policy);
                QCOMPARE(said->fixes[1].plan->memory.offloadPolicy, OffloadPolicy::SsdTrain);
                QCOMPARE(*evaluation->metrics.iterationTime, timeOf(*said->fixes[1].plan));
                QVERIFY(!whyPolicyRests(plan).empty() && whyPolicyRests(*said->fixes[0].plan).empty());
            }
        }
    }
};

TRAINYARD_APPLESS_TEST(TstLayerPolicies)
#include "tst_layer_policies.moc"
