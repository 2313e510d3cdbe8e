// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/metrics/metrics.h"

#include "core/evaluation/evaluate/metrics/breakdown_pieces.h"
#include "core/evaluation/evaluate/metrics/device_metrics.h"
#include "core/evaluation/evaluate/metrics/stage_seconds.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/placement/recompute.h"
#include "core/systems/experts/loads.h"

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

constexpr std::array kPartsInSpans { &Breakdown::dataParallelInSpans, &Breakdown::offloadStallInSpans };

Breakdown meanOf(const std::vector<StageSeconds> &stages, int pipelineClass)
{
    Breakdown sum;
    int count = 0;
    for (const StageSeconds &stage : stages) {
        if (stage.pipelineClass != pipelineClass)
            continue;
        ++count;
        for (double Breakdown::*part : kBreakdownParts)
            sum.*part += stage.spent.*part;
        for (double Breakdown::*part : kPartsInSpans)
            sum.*part += stage.spent.*part;
    }
    for (double Breakdown::*part : kBreakdownParts)
        sum.*part /= std::max(1, count);
    for (double Breakdown::*part : kPartsInSpans)
        sum.*part /= std::max(1, count);
    return sum;
}

double peakFlopsInUse(const Workload &workload)
{
    double peak = 0;
    for (const GpuRun &run : workload.layout.runs)
        peak += run.gpus * workload.gpu({ run.datacenter, run.pool }).peakFlops(workload.plan->workload.precision);
    return peak;
}

/// Share of the visits to experts that was computed: full experts drop more where others are not.
double keptVisits(const Workload &workload)
{
    const MoeStrategy &moe = workload.plan->moe;
    return 1
        - rankLoads(moe.expertLoads, workload.model.experts, workload.degrees.expert, moe.imbalance, moe.capacity())
              .dropped;
}

/// FLOPs of one sequence that MEMO, KARMA and ProTrain make the stages recompute, over an average layer of the model.
/// What is quadratic in s is the core of attention: F(s) = a s + b s^2, so b s^2 = 2 (F(s) - 2 F(s/2)).
double recomputedByPolicy(const Workload &workload, const Costs &costs, double s)
{
    if (costs.offload.empty())
        return 0;
    double forward = 0, core = 0;
    const double kept = keptVisits(workload);
    for (int layer = 0; layer < workload.model.layers; ++layer) {
        const bool isExpert = workload.model.isExpertLayer(layer);
        forward += recomputeFlops(workload.model, isExpert, s, Recompute::Full, workload.stack, kept);
        core += 2
            * (layerForwardFlops(workload.model, isExpert, s) - 2 * layerForwardFlops(workload.model, isExpert, s / 2));
    }
    double recompute = 0, microBatches = 0;
    for (std::size_t c = 0; c < costs.offload.size(); ++c) {
        const double ofClass =
            double(costs.iteration.classes[c].program.shape.microBatches) * workload.layout.classes[c].pipelines;
        microBatches += ofClass;
        for (const StageOffload &stage : costs.offload[c])
            recompute += ofClass * stage.fates.forwards * (stage.fates.sparesAttention ? forward - core : forward);
    }
    return microBatches > 0 ? recompute / microBatches / workload.model.layers / workload.degrees.copies : 0;
}

void addRates(Metrics &metrics, const Workload &workload, const Costs &costs, double iteration)
{
    const WorkloadSpec &spec = workload.plan->workload;
    metrics.tokensPerSecond = double(spec.globalBatch) * spec.sequenceLength / iteration;
    metrics.tokensPerSecondPerGpu = *metrics.tokensPerSecond / metrics.gpusUsed;
    if (!workload.source.hasLayers)
        return; // measured stage times need not belong to the named model: no FLOP is claimed
    // A mask at the borders of documents makes short sequences of a long one.
    const double s = spec.attendedLength(), sequences = double(spec.globalBatch) * spec.sequenceLength / s;
    const double kept = keptVisits(workload); // what was dropped was not computed
    const double modelFlops = modelFlopsPerSequence(workload.model, s, kept) * sequences;
    double recomputed = recomputedByPolicy(workload, costs, s);
    const auto ofLayers = [&](auto flops) {
        const ModelSpec &model = workload.model;
        double sum = model.mtpLayers > 0 ? model.mtpLayers * flops(hasExpertPredictor(model)) : 0;
        for (int layer = 0; layer < model.layers; ++layer)
            sum += flops(model.isExpertLayer(layer));
        return sum;
    };
    const MemoryStrategy &memory = workload.plan->memory;
    recomputed += ofLayers([&](bool isExpert) {
        return recomputeFlops(workload.model, isExpert, s, memory.recompute, workload.stack, kept);
    });
    const double whole = memory.recompute == Recompute::Full ? recomputedShare(workload) : 0;
    if (memory.recompute == Recompute::Full) // then no policy decides
        recomputed *= whole;
    const bool isByTensor = memory.recompute != Recompute::Selective || !workload.stack.operatorLevelSelective;
    if (isByTensor && (memory.recomputeUpProjection || memory.recomputeSharedExperts))
        recomputed += (1 - whole) * ofLayers([&](bool isExpert) {
            return remadeFlops(
                workload.model, isExpert, s, { memory.recomputeUpProjection, memory.recomputeSharedExperts });
        });
    metrics.modelTflopsPerGpu = modelFlops / iteration / metrics.gpusUsed / 1e12;
    const double peak = peakFlopsInUse(workload);
    if (peak > 0) {
        metrics.mfu = modelFlops / iteration / peak;
        metrics.hfu = (modelFlops + recomputed * sequences) / iteration / peak;
    }
}

} // namespace

void addTimeMetrics(Metrics &metrics, const Workload &workload, const Costs &costs, const Timeline &timeline)
{
    const double iteration = toSeconds(timeline.duration).value;
    metrics.gpusUsed = workload.layout.gpusUsed;
    metrics.gpusTotal = workload.layout.gpusTotal;
    metrics.spans = timeline.spanCount();
    metrics.iterationTime = iteration;
    addRates(metrics, workload, costs, iteration);
    addWanMetrics(metrics, workload, costs, timeline);

    const std::vector<StageSeconds> stages = secondsOfStages(timeline);
    metrics.breakdown = meanOf(stages, slowestClass(timeline));
    metrics.bubbleFraction = metrics.breakdown->bubble / iteration;
    double busy = 0;
    metrics.computeShare.assign(
        workload.layout.classes.size(), std::vector<double>(std::size_t(workload.degrees.pipeline), 1));
    for (const StageSeconds &stage : stages) {
        metrics.computeShare[std::size_t(stage.pipelineClass)][std::size_t(stage.stage)] = stage.computeShare;
        const PipelineClass &pipelines = workload.layout.classes[std::size_t(stage.pipelineClass)];
        busy += stage.spent.compute * workload.degreesAt(pipelines.locations[std::size_t(stage.stage)]).gpusOfStage()
            * pipelines.pipelines;
    }
    metrics.gpuUtilization = busy / (metrics.gpusUsed * iteration);
    metrics.devices = deviceMetrics(workload, stages);
}

void addMemoryMetrics(Metrics &metrics, std::vector<StageMemory> stages, const std::vector<HostMemory> &nodes)
{
    if (stages.empty())
        return;
    const auto fullness = [](const StageMemory &m) {
        return double(m.device) / double(std::max<std::int64_t>(1, m.capacity));
    };
    const auto fullest = std::max_element(stages.begin(), stages.end(),
        [&](const StageMemory &a, const StageMemory &b) { return fullness(a) < fullness(b); });
    MemoryMetrics memory { fullest->peak, fullest->capacity, fullest->stage, true, {} };
    memory.fits = std::all_of(stages.begin(), stages.end(), [](const StageMemory &m) { return m.fits(); });
    memory.perStage = std::move(stages);
    for (const HostMemory &node : nodes)
        if (node.isStated()
            && (memory.hostCapacity == 0
                || node.total() / node.capacity > double(memory.host) / double(memory.hostCapacity))) {
            memory.host = wholeBytes(node.total());
            memory.hostCapacity = wholeBytes(node.capacity);
        }
    metrics.memory = std::move(memory);
}

void addBubbleFill(Metrics &metrics, Timeline &timeline, const Workload &workload, const BubbleService &service,
    const std::stop_token &stop)
{
    const double seconds = toSeconds(timeline.duration).value;
    const auto filled = fillBubbles(
        timeline, workload, metrics.memory ? metrics.memory->perStage : std::vector<StageMemory>(), service, stop);
    if (!filled)
        return;
    if (metrics.gpuUtilization)
        metrics.gpuUtilizationWithFill = *metrics.gpuUtilization + filled->gpuSeconds / (metrics.gpusUsed * seconds);
    metrics.bubbleFill = filled->metrics;
}

} // namespace trainyard
