// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluate/metrics/expert_metrics.h"

#include "core/cost/wan/expert_wan.h"
#include "core/placement/recompute.h"

namespace trainyard {

namespace {

constexpr double kBytesPerGb = 1e9;

/// Layers with experts of one micro-batch's way through a stage, and those of them whose forward is done again.
struct ExpertPasses {
    int layers = 0, again = 0;
};

ExpertPasses passesOf(const Workload &workload, int stage)
{
    ExpertPasses passes;
    const auto &chunks = workload.layout.chunks[std::size_t(stage)];
    const std::vector<RecomputedLayers> recomputed = recomputedLayers(workload, stage);
    for (std::size_t c = 0; c < chunks.size() / std::size_t(workload.degrees.copies); ++c) {
        passes.layers += chunks[c].expertLayers;
        if (workload.plan->memory.recompute == Recompute::Full)
            passes.again += workload.plan->memory.recomputeLayers ? recomputed[c].experts : chunks[c].expertLayers;
    }
    return passes;
}

} // namespace

SlowestExperts slowestExperts(const std::vector<std::vector<StageCosts>> &stages)
{
    SlowestExperts slowest;
    Seconds longest;
    for (std::size_t c = 0; c < stages.size(); ++c) {
        for (std::size_t s = 0; s < stages[c].size(); ++s) {
            const auto &expert = stages[c][s].expert;
            if (!expert)
                continue;
            const Seconds time = expert->forwardTimes.total + expert->backwardTimes.total;
            if (slowest.stage >= 0 && time <= longest)
                continue;
            longest = time;
            slowest = { int(c), int(s) };
        }
    }
    return slowest;
}

double expertBytes(const Workload &workload, const StageCosts &costs, int pipelineClass, int stage, Way way)
{
    if (!costs.expert)
        return 0;
    const ExchangeChoice &choice = costs.expert->choice;
    const ExpertPasses passes = passesOf(workload, stage);
    const double forward = choice.forwardDispatch.bytes(way) + choice.forwardCombine.bytes(way),
                 backward = choice.backwardDispatch.bytes(way) + choice.backwardCombine.bytes(way);
    return (forward * (passes.layers + passes.again) + backward * passes.layers)
        * workload.layout.classes[std::size_t(pipelineClass)].microBatches;
}

void addExpertTraffic(const Workload &workload, Costs &costs)
{
    for (std::size_t c = 0; c < costs.stages.size(); ++c)
        for (std::size_t s = 0; s < costs.stages[c].size(); ++s)
            addExpertBytes(workload, workload.layout.classes[c], int(s),
                expertBytes(workload, costs.stages[c][s], int(c), int(s), Way::Wan), costs.wanLinks);
}

std::optional<ExpertMetrics> expertMetrics(const Workload &workload, const Costs &costs)
{
    const SlowestExperts at = slowestExperts(costs.stages);
    if (at.stage < 0)
        return std::nullopt;
    const StageCosts &stage = costs.stages[std::size_t(at.pipelineClass)][std::size_t(at.stage)];
    const ExpertLayerCost &layer = *stage.expert;
    ExpertMetrics metrics;
    const auto bytes = [&](Way way) { return expertBytes(workload, stage, at.pipelineClass, at.stage, way); };
    metrics.nicBytes = bytes(Way::Nic);
    metrics.wanBytes = bytes(Way::Wan);
    metrics.wireBytes = metrics.nicBytes + metrics.wanBytes + bytes(Way::Nvlink);
    const Exchange &dispatch = layer.choice.forwardDispatch;
    const double far = dispatch.bytes(Way::Nic) + dispatch.bytes(Way::Wan),
                 wire = far > 0 ? far : dispatch.bytes(Way::Nvlink), seconds = layer.forwardTimes.dispatch.value;
    if (seconds > 0) {
        metrics.wireGBps = wire / seconds / kBytesPerGb;
        metrics.logicalGBps = dispatch.logicalBytes / seconds / kBytesPerGb;
    }
    metrics.droppedShare = layer.loads.dropped;
    metrics.slowestRank = layer.loads.fullest;
    metrics.skew = layer.loads.skew;
    metrics.chosen = layer.choice.dispatch;
    metrics.forwardChunks = layer.choice.forwardPieces;
    metrics.backwardChunks = layer.choice.backwardPieces;
    metrics.layerMs = layer.forwardTimes.total.value * 1e3;
    metrics.exposedMs = layer.forwardTimes.exposed.value * 1e3;
    return metrics;
}

} // namespace trainyard
