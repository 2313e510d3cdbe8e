// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluate/metrics/expert_metrics.h"

#include "core/cost/expert_traffic.h"

namespace trainyard {

namespace {

constexpr double kBytesPerGb = 1e9;

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

std::optional<ExpertMetrics> expertMetrics(const Workload &workload, const Costs &costs)
{
    const SlowestExperts at = slowestExperts(costs.stages);
    if (at.stage < 0)
        return std::nullopt;
    const StageCosts &stage = costs.stages[std::size_t(at.pipelineClass)][std::size_t(at.stage)];
    const ExpertLayerCost &layer = *stage.expert;
    ExpertMetrics metrics;
    const auto bytes = [&](Way way) {
        return expertBytes(workload, stage, workload.layout.classes[std::size_t(at.pipelineClass)], at.stage, way);
    };
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
