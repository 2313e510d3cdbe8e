// SPDX-License-Identifier: GPL-3.0-or-later
// Activation offloading from plan to metrics under schedules that decide while they run, that pair operations, or that
// recompute part of a stage.
#include "core/iteration/iteration_costs/iteration_costs.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/memory/chunk_memory.h"
#include "tests/core/iteration/offload/drive_plans.h"
#include "tests/support/test_program.h"
#include "tests/support/workloads.h"

#include <QTest>

#include <cmath>

using namespace offload;
using test::evaluated;
using test::oneSite;
using test::threeSites;

namespace {

constexpr ScheduleKind kSchedules[] = { ScheduleKind::Atlas, ScheduleKind::Varuna, ScheduleKind::DualPipe,
    ScheduleKind::DualPipeV, ScheduleKind::TeraPipe };

Plan keptUnder(ScheduleKind schedule, Recompute recompute = Recompute::None)
{
    Plan plan = oneSite(8);
    plan.schedule = schedule;
    plan.memory.recompute = recompute;
    plan.memory.offloadMinElements = 0;
    return plan;
}

/// Drives and ways to them that take no time.
Plan withoutLimits(Plan plan)
{
    plan = withDrives(std::move(plan), 1e12, 1e12);
    for (Datacenter &datacenter : plan.cluster.datacenters)
        for (Pool &pool : datacenter.pools) {
            GpuSpec gpu = *builtinCatalogue().gpu(pool.gpu);
            gpu.pcieGBps = 1e12;
            pool.inlineGpu = gpu;
        }
    return plan;
}

/// A DP-cell of two pipelines over three sites.
Plan cell(WanSharing sharing)
{
    Plan plan = threeSites(4);
    plan.parallelism.data = 2;
    plan.workload.globalBatch = 48;
    plan.schedule = ScheduleKind::Atlas;
    plan.wan.sharing = sharing;
    plan.wan.cell = 2;
    plan.memory.offloadMinElements = 0;
    return plan;
}

std::int64_t highest(const std::vector<Evaluation::MemoryStep> &curve)
{
    return std::ranges::max(curve, {}, &Evaluation::MemoryStep::bytes).bytes;
}

Costs costsOf(const Plan &plan, std::optional<Workload> &workload)
{
    workload = test::placedWorkload(plan);
    auto costs = cost(*workload);
    if (!costs)
        qFatal("%s", toString(costs.error()).c_str());
    return std::move(*costs);
}

} // namespace

class TstOffloadSchedulePlans : public QObject {
    Q_OBJECT

private slots:
    /// A load is asked for before what needs it. Of groups that one recomputation needs first the later one is not
    /// asked for when that begins, and a group comes as early as the earliest of its segments: else the load would wait
    /// for what waits for it.
    void noLoadWaitsForWhatNeedsIt()
    {
        EvaluationWorkspace workspace;
        for (const ScheduleKind schedule : { ScheduleKind::Atlas, ScheduleKind::Varuna })
            for (const Recompute recompute : { Recompute::Selective, Recompute::Full })
                for (const int group : { 1, 2, 3 })
                    for (const double fraction : { 0.1, 0.3, 0.7, 1.0 })
                        for (const int layers : { 3, 5, 16 })
                            for (const ParameterOffload parameters :
                                { ParameterOffload::None, ParameterOffload::Host }) {
                                Plan plan = withDrives(keptUnder(schedule, recompute));
                                plan.workload.model = "gpt-3-6.7b";
                                plan.workload.sequenceLength = 1024;
                                plan.workload.globalBatch = 2;
                                plan.parallelism.tensor = 1;
                                plan.parallelism.data = 1;
                                plan.parallelism.pipeline = 2;
                                plan.memory.offloadGroup = group;
                                plan.memory.offloadFraction = fraction;
                                plan.memory.recomputeNorms = group == 2;
                                plan.memory.recomputeLayers = layers;
                                plan.memory.parameterOffload = parameters;
                                const auto evaluation = evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(),
                                    workspace, {}, Depth::Spans);
                                QVERIFY2(evaluation.has_value(),
                                    evaluation ? "" : toString(evaluation.error().front()).c_str());
                            }
    }

    void whatLeavesIsNotOnTheGpu()
    {
        for (const ScheduleKind schedule : kSchedules)
            for (const Recompute recompute : { Recompute::None, Recompute::Selective, Recompute::Full }) {
                if (schedule == ScheduleKind::TeraPipe && recompute != Recompute::None)
                    continue;
                const Plan keep = keptUnder(schedule, recompute);
                const auto kept = evaluated(keep), away = evaluated(withDrives(keep, 400, 400));
                const OffloadMetrics &m = *away->metrics.offload;
                QVERIFY(m.bytesPerGpu > 0);
                QVERIFY(std::abs(m.bytesPerGpu - m.bytesRead - m.bytesForwarded) <= 1e-9 * m.bytesPerGpu);
                QVERIFY(std::abs(away->metrics.breakdown->total() - *away->metrics.iterationTime)
                    < 1e-6 * *away->metrics.iterationTime);
                for (std::size_t stage = 0; stage < kept->metrics.memory->perStage.size(); ++stage) {
                    QVERIFY(away->metrics.memory->perStage[stage].peak
                        <= kept->metrics.memory->perStage[stage].peak * 1.000001);
                    for (std::size_t i = 0; i < away->memoryCurves[stage].size(); ++i)
                        QVERIFY(away->memoryCurves[stage][i].bytes <= highest(away->memoryCurvesKept[stage]));
                }
                QVERIFY(away->metrics.memory->perStage.front().peak < kept->metrics.memory->perStage.front().peak);
                QVERIFY(!hasProblem(*away, "memory.activation_offload") || m.activationPeakReduction < 0.02);
            }
    }

    void withoutLimitOfBandwidthNothingStalls()
    {
        // a move takes a tick: pairs and a stage that turns wait for one a module at most
        for (const ScheduleKind schedule : kSchedules)
            for (const Recompute recompute : { Recompute::None, Recompute::Full }) {
                const Plan keep = keptUnder(schedule, recompute);
                const double with = *evaluated(withoutLimits(keep))->metrics.iterationTime,
                             without = *evaluated(keep)->metrics.iterationTime;
                QVERIFY(std::abs(with - without) < 1e-5);
            }
    }

    void pairsHideTheirLoadsBehindTheOperationBefore()
    {
        for (const ScheduleKind schedule : { ScheduleKind::DualPipe, ScheduleKind::DualPipeV }) {
            const double with = *evaluated(withDrives(keptUnder(schedule), 400, 400))->metrics.iterationTime;
            const double without = *evaluated(keptUnder(schedule))->metrics.iterationTime;
            QVERIFY(with >= without && with < 1.03 * without);
        }
    }

    void keepingIsWhatAPlanWithoutBandwidthGets()
    {
        for (const ScheduleKind schedule : kSchedules) {
            const auto keep = evaluated(keptUnder(schedule)), none = evaluated(withDrives(keptUnder(schedule), 0, 0));
            QCOMPARE(*none->metrics.iterationTime, *keep->metrics.iterationTime);
            QCOMPARE(none->metrics.offload->bytesPerGpu, 0.0);
            QVERIFY(hasProblem(*none, "cluster.datacenters[0].pools[0].ssd"));
        }
    }

    void pipelinesOfACellOffloadWhileTheyTakeTurns()
    {
        for (const WanSharing sharing : { WanSharing::Spatial, WanSharing::Temporal }) {
            const auto kept = evaluated(cell(sharing)), away = evaluated(withoutLimits(cell(sharing)));
            QCOMPARE(away->layout.classes.size(), std::size_t(sharing == WanSharing::Temporal ? 2 : 1));
            QVERIFY(away->metrics.offload->bytesPerGpu > 0);
            QVERIFY(away->metrics.memory->perStage.front().peak < kept->metrics.memory->perStage.front().peak);
            QVERIFY(std::abs(*away->metrics.iterationTime - *kept->metrics.iterationTime) < 1e-5);
            const auto slow = evaluated(withDrives(cell(sharing), 200, 200));
            QVERIFY(
                slow->metrics.offload->bytesPerGpu > 0 && *slow->metrics.iterationTime >= *kept->metrics.iterationTime);
        }
    }

    void segmentsAddUpToWhatIsKept()
    {
        // sum of offloaded + resident over the segments of a chunk = ChunkMemory::kept
        for (const int layers : { 0, 1, 3, 100 }) {
            Plan plan = withDrives(keptUnder(ScheduleKind::OneFOneB, Recompute::Full), 400, 400);
            if (layers > 0)
                plan.memory.recomputeLayers = layers;
            std::optional<Workload> workload;
            const Costs costs = costsOf(plan, workload);
            for (std::size_t stage = 0; stage < costs.offload.front().size(); ++stage) {
                const std::vector<ChunkMemory> chunks = chunkMemory(*workload, int(stage));
                QCOMPARE(costs.offload.front()[stage].chunks.size(), chunks.size());
                for (std::size_t c = 0; c < chunks.size(); ++c) {
                    double sum = 0;
                    for (const SegmentBytes &segment : costs.offload.front()[stage].chunks[c])
                        sum += segment.offloaded + segment.resident;
                    QVERIFY(std::abs(sum - chunks[c].kept) <= 1e-9 * chunks[c].kept);
                }
            }
        }
    }

    void keysAndValuesOfASliceStay()
    {
        // Later slices read them: of a layer's bytes 4 s b h_kv / t stay, whatever leaves. Slices' segments add up to
        // the memory of one.
        Plan plan = withDrives(keptUnder(ScheduleKind::TeraPipe), 4000, 4000);
        plan.memory.offloadFraction = 1;
        std::optional<Workload> workload;
        const Costs costs = costsOf(plan, workload);
        const ModelSpec &model = workload->model;
        const double keysAndValues = 4.0 * plan.workload.sequenceLength * plan.workload.microBatch * model.kvHeads
            * model.headDim / plan.parallelism.tensor;
        for (std::size_t stage = 0; stage < costs.offload.front().size(); ++stage) {
            const std::vector<ChunkMemory> slices = chunkMemory(*workload, int(stage));
            const int layers = workload->layout.chunks[stage].front().layers;
            QCOMPARE(costs.offload.front()[stage].chunks.size(), std::size_t(4));
            for (std::size_t c = 0; c < slices.size(); ++c) {
                double offloaded = 0, resident = 0;
                for (const SegmentBytes &segment : costs.offload.front()[stage].chunks[c]) {
                    offloaded += segment.offloaded;
                    resident += segment.resident;
                }
                QVERIFY(std::abs(offloaded + resident - slices[c].kept) <= 1e-9 * slices[c].kept);
                QVERIFY(std::abs(resident - layers * keysAndValues / 4) <= 1e-9 * resident);
            }
        }
    }

    void slicesThatRecomputeStay()
    {
        Plan plan = withDrives(keptUnder(ScheduleKind::TeraPipe, Recompute::Full));
        const auto evaluation = evaluated(plan);
        QVERIFY(!evaluation->metrics.offload);
        const auto said = std::ranges::find(evaluation->problems, "memory.activation_offload", &Problem::where);
        QVERIFY(said != evaluation->problems.end() && said->text.find("keys and values") != std::string::npos);
    }

    void layersThatAreNotRecomputedLeaveWhole()
    {
        // The fewer layers recompute, the more leaves; never a higher peak than keeping.
        double before = 0;
        for (const int layers : { 8, 5, 2 }) {
            Plan keep = keptUnder(ScheduleKind::OneFOneB, Recompute::Full);
            keep.memory.recomputeLayers = layers;
            const auto kept = evaluated(keep), away = evaluated(withDrives(keep, 4000, 4000));
            QVERIFY(!hasProblem(*away, "memory.activation_offload"));
            QVERIFY(away->metrics.offload->bytesPerGpu > before);
            QVERIFY(away->metrics.memory->peak < kept->metrics.memory->peak);
            before = away->metrics.offload->bytesPerGpu;
        }
    }
};

TRAINYARD_APPLESS_TEST(TstOffloadSchedulePlans)
#include "tst_offload_schedule_plans.moc"
