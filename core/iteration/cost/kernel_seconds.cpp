// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/kernel_seconds.h"

#include "core/iteration/cost/stage_coster.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Speeds of kinds of kernels, on every GPU.
struct Speeds {
    double products = 1, attention = 1, memory = 1, host = 1;
};

Workload at(Workload workload, const Speeds &speed)
{
    for (auto &pools : workload.sustained)
        for (SustainedRates &rates : pools) {
            for (double SustainedRates::*rate :
                { &SustainedRates::half, &SustainedRates::eight, &SustainedRates::four })
                rates.*rate *= speed.products;
            rates.attention *= speed.attention;
            rates.memory *= speed.memory;
            rates.host /= speed.host;
            rates.microBatchHost /= speed.host;
        }
    return workload;
}

Workload withoutHost(Workload workload)
{
    workload.stack.hostUsPerKernel = workload.stack.microBatchOverheadUs = 0;
    workload.stack.synchronousLaunches = false;
    return workload;
}

/// Operations of all micro-batches; a schedule with copies of the layers sends each through one of them.
OpSplit iterationOf(const Workload &workload, const PipelineClass &pipelines, const StageCosts &costs,
    const RecomputedShares &recomputed = {})
{
    OpSplit sum;
    for (std::size_t c = 0; c < costs.chunks.size(); ++c) {
        const ChunkCost &chunk = costs.chunks[c];
        sum += chunk.forward + chunk.inputGrad + chunk.weightGrad
            + chunk.recompute * (c < recomputed.size() ? recomputed[c] : 1);
    }
    return sum * (double(pipelines.microBatches) / workload.degrees.copies);
}

double computing(
    const Workload &workload, const PipelineClass &pipelines, int stage, const RecomputedShares &recomputed)
{
    const StageCosts costs = StageCoster(workload).stage(pipelines, stage);
    double seconds = iterationOf(workload, pipelines, costs, recomputed).compute.value;
    if (workload.plan->memory.optimizerOffload == OptimizerOffload::None)
        seconds += costs.optimizer.value;
    return seconds;
}

} // namespace

KernelSeconds kernelSeconds(
    const Workload &workload, const PipelineClass &pipelines, int stage, const RecomputedShares &recomputed)
{
    KernelSeconds result;
    if (!workload.source.hasLayers)
        return result;
    const Workload beside = withoutHost(workload);
    Workload alone = beside;
    alone.stack.overlapSlowdown = 0;
    const auto seconds = [&](const Speeds &speeds) {
        return computing(at(alone, speeds), pipelines, stage, recomputed);
    };
    const double all = seconds({});
    // A kind at twice its speed saves half of what a factor multiplies.
    result.products = 2 * (all - seconds({ .products = 2 }));
    result.attention = 2 * (all - seconds({ .attention = 2 }));
    result.memory = 2 * (all - seconds({ .memory = 2 }));
    result.fixedProducts = std::max(0.0, computing(beside, pipelines, stage, recomputed) - all);
    result.fixedMemory = std::max(0.0, all - result.products - result.attention - result.memory);
    return result;
}

double hostSeconds(const Workload &workload, const PipelineClass &pipelines, int stage, double factor,
    const RecomputedShares &recomputed)
{
    const Workload slowed = at(workload, { .host = 1 / factor });
    const double shown = computing(slowed, pipelines, stage, recomputed)
        - computing(withoutHost(workload), pipelines, stage, recomputed);
    const StageLocation location = pipelines.locations[std::size_t(stage)];
    return std::max(0.0, shown)
        + milliseconds(workload.stack.overheadMs() * slowed.sustainedRates(location).host).value;
}

HiddenCommunication hiddenCommunication(const Workload &workload, const PipelineClass &pipelines, int stage)
{
    Workload open = workload;
    open.stack.tensorOverlap = open.stack.asyncTensorOverlap = 0;
    const StageCosts costs = StageCoster(workload).stage(pipelines, stage);
    HiddenCommunication result;
    result.tensor = iterationOf(open, pipelines, StageCoster(open).stage(pipelines, stage)).tensor.value;
    result.tensorHidden = result.tensor - iterationOf(workload, pipelines, costs).tensor.value;
    // Row maxima and sums of the loss are small messages, which are not counted here.
    StageCoster coster(workload);
    const LayerSite &site = coster.site(pipelines, stage);
    const bool hasHead = std::ranges::any_of(
        workload.layout.chunks[std::size_t(stage)], [](const StageChunk &chunk) { return chunk.hasHead; });
    const double tokens =
        double(site.ranks.microBatch) * workload.plan->workload.sequenceLength / site.ranks.degrees.context;
    if (hasHead)
        result.tensor -= allReduceTime(Bytes { 8 * tokens }, site.tensor).value * pipelines.microBatches;
    const SyncAndStepTimes times = syncAndStepTimes(workload, costs);
    result.reduce = costs.reduce.value;
    result.reduceHidden = std::min(result.reduce, toSeconds(times.reduceEarly).value);
    result.gather = costs.gather.value;
    result.gatherHidden =
        std::clamp(result.gather + costs.exchange.value - toSeconds(times.gather).value, 0.0, result.gather);
    return result;
}

} // namespace trainyard
