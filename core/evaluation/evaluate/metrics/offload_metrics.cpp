// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/metrics/metrics.h"

#include "core/iteration/offload/ssd_life.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trainyard {

namespace {

/// Bytes that one GPU of a stage writes to drives in an iteration, the class that writes most: activations and states.
double writtenBy(
    const Workload &workload, const Costs &costs, const std::vector<std::vector<LiveOverTime>> &offloaded, int stage)
{
    double activations = 0, states = 0;
    if (workload.plan->memory.activationOffload == ActivationOffload::Ssd)
        for (const std::vector<LiveOverTime> &stages : offloaded)
            activations = std::max(activations, stages[std::size_t(stage)].use.written);
    for (const std::vector<StageCosts> &stages : costs.stages)
        states = std::max(
            states, (stages[std::size_t(stage)].step.written + stages[std::size_t(stage)].weightsWritten).value);
    return activations + states;
}

/// Of each pool, the node that writes most: bytes of an iteration.
std::map<std::pair<int, int>, double> busiestNodes(
    const Workload &workload, const Costs &costs, const std::vector<std::vector<LiveOverTime>> &offloaded)
{
    std::map<std::tuple<int, int, int>, double> nodes;
    for (const GpuRun &run : workload.layout.runs) {
        const int size = workload.pool({ run.datacenter, run.pool }).gpusPerNode;
        for (int gpu = run.firstGpu; gpu < run.firstGpu + run.gpus;) {
            const int next = std::min((gpu / size + 1) * size, run.firstGpu + run.gpus);
            nodes[{ run.datacenter, run.pool, gpu / size }] +=
                (next - gpu) * writtenBy(workload, costs, offloaded, run.stage);
            gpu = next;
        }
    }
    std::map<std::pair<int, int>, double> pools;
    for (const auto &[node, bytes] : nodes) {
        double &most = pools[{ std::get<0>(node), std::get<1>(node) }];
        most = std::max(most, bytes);
    }
    return pools;
}

/// Life of the drives that wear out first, and what the dearest cost for each GPU.
void addDrives(OffloadMetrics &metrics, const Workload &workload, const Costs &costs,
    const std::vector<std::vector<LiveOverTime>> &offloaded, Seconds iteration)
{
    for (const auto &[at, bytes] : busiestNodes(workload, costs, offloaded)) {
        const Pool &pool = workload.pool({ at.first, at.second });
        if (!pool.ssd)
            continue;
        const Ssd &ssd = *pool.ssd;
        if (ssd.endurancePb > 0 && bytes > 0) {
            const DriveWear wear { Bytes { ssd.endurancePb * 1e15 }, DriveWear {}.ratedAmplification,
                ssd.writeAmplification, ssd.retentionGain };
            const double years = lifetimeYears(wear, Bytes { bytes }, iteration);
            metrics.ssdLifetimeYears = std::min(metrics.ssdLifetimeYears.value_or(years), years);
        }
        if (ssd.usd > 0)
            metrics.ssdUsdPerGpu = std::max(metrics.ssdUsdPerGpu.value_or(0), ssd.usd / pool.gpusPerNode);
    }
}

/// Of the stage `c`, `stage`: its layers, and what it computes again for its micro-batches.
void addFates(OffloadMetrics &metrics, const Costs &costs, std::size_t c, std::size_t stage)
{
    const LayerFates &fates = costs.offload[c][stage].fates;
    metrics.policyStage = int(stage);
    metrics.layersKept = fates.kept;
    metrics.layersSwapped = fates.swapped;
    metrics.layersRecomputed = fates.recomputed;
    metrics.tokenShare = fates.tokenShare >= 0 ? Metric { fates.tokenShare } : Metric {};
    metrics.recompute = 0;
    if (fates.forwards > 0)
        for (const ChunkCost &chunk : costs.stages[c][stage].chunks)
            metrics.recompute += chunk.recompute.total().value * costs.iteration.classes[c].program.shape.microBatches;
}

} // namespace

void addOffloadMetrics(Metrics &metrics, const Workload &workload, const Costs &costs, const LiveMemory &memoryOfOps)
{
    static const std::vector<std::vector<LiveOverTime>> kNothing;
    const auto &offloaded = memoryOfOps.leaves ? memoryOfOps.of : kNothing;
    const MemoryStrategy &memory = movedOffGpu(*workload.plan);
    const bool usesDrives = (memory.activationOffload == ActivationOffload::Ssd && !offloaded.empty())
        || memory.optimizerOffload == OptimizerOffload::Ssd || memory.parameterOffload == ParameterOffload::Ssd;
    if ((offloaded.empty() && !usesDrives) || !metrics.iterationTime)
        return;
    OffloadMetrics result;
    double highest = 0;
    for (std::size_t c = 0; c < offloaded.size(); ++c) {
        for (std::size_t stage = 0; stage < offloaded[c].size(); ++stage) {
            const LiveOverTime &live = offloaded[c][stage];
            if (live.use.written > result.bytesPerGpu) {
                result.bytesPerGpu = live.use.written;
                result.bytesRead = live.use.read;
                result.bytesForwarded = live.use.forwarded;
            }
            static const StageOffload kOfLayers; // boundaries of a layer loop leave as they are
            const StageOffload &stageOffload = costs.offload.empty() ? kOfLayers : costs.offload[c][stage];
            if (const double could = stageOffload.offloadable + stageOffload.small; could > 0)
                result.smallShare = std::max(result.smallShare, stageOffload.small / could);
            result.bytesDropped = std::max(result.bytesDropped, live.use.dropped);
            result.mostOffloaded = std::max(result.mostOffloaded, std::int64_t(live.mostOffloaded));
            if (live.peakWhole > highest * (1 + 1e-12)) { // of equal ones the first
                highest = live.peakWhole;
                result.activationPeakReduction = 1 - live.peak / live.peakWhole;
                if (!costs.offload.empty())
                    addFates(result, costs, c, stage);
            }
        }
    }
    const Seconds iteration { *metrics.iterationTime };
    result.stall = offloaded.empty() || !metrics.breakdown ? 0 : metrics.breakdown->offloadStall;
    result.requiredWriteGBps =
        requiredWriteBandwidth(Bytes { result.bytesPerGpu }, iteration - Seconds { result.stall }).value * 1e-9;
    if (usesDrives)
        addDrives(result, workload, costs, offloaded, iteration);
    metrics.offload = result;
}

} // namespace trainyard
