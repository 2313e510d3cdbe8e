// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/metrics/expert_metrics.h"

#include "core/iteration/cost/expert_traffic.h"

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

constexpr double kBytesPerGb = 1e9;

/// 10^9 bytes per second of the farthest way that a dispatch goes, from the first byte on it to the last.
double farthestRate(const LayerWork &layer)
{
    const LayerChart chart = layerChart(layer);
    for (const LayerStream stream : { LayerStream::Wan, LayerStream::Nic, LayerStream::Nvlink }) {
        double bytes = 0;
        Nanoseconds first = 0, last = 0;
        for (const LayerSpan &span : chart.spans) {
            if (span.step != LayerStep::Dispatch || span.track.rank != 0 || span.track.stream != stream)
                continue;
            first = bytes > 0 ? std::min(first, span.start) : span.start;
            last = std::max(last, span.end);
            bytes += span.bytes;
        }
        if (bytes > 0 && last > first)
            return bytes / double(last - first); // bytes a nanosecond
    }
    return 0;
}

} // namespace

SlowestExperts slowestExperts(const Layout &layout, const std::vector<std::vector<StageCosts>> &stages)
{
    SlowestExperts slowest;
    std::pair<double, int> most; // seconds of a layer, layers
    for (std::size_t c = 0; c < stages.size(); ++c) {
        for (std::size_t s = 0; s < stages[c].size(); ++s) {
            const auto &expert = stages[c][s].expert;
            if (!expert)
                continue;
            int layers = 0;
            for (const StageChunk &chunk : layout.chunks[s])
                layers += chunk.expertLayers;
            const std::pair own { (expert->forwardTimes.total + expert->backwardTimes.total).value, layers };
            if (slowest.stage >= 0 && own <= most)
                continue;
            most = own;
            slowest = { int(c), int(s) };
        }
    }
    return slowest;
}

std::optional<ExpertMetrics> expertMetrics(const Workload &workload, const Costs &costs)
{
    const SlowestExperts at = slowestExperts(workload.layout, costs.stages);
    if (at.stage < 0)
        return std::nullopt;
    const StageCosts &stage = costs.stages[std::size_t(at.pipelineClass)][std::size_t(at.stage)];
    const ExpertLayerCost &layer = *stage.expert;
    ExpertMetrics metrics;
    const auto bytes = [&](Way way) {
        return exchangedBytes(workload, stage, workload.layout.classes[std::size_t(at.pipelineClass)], at.stage, way)
            .total();
    };
    metrics.nicBytes = bytes(Way::Nic);
    metrics.wanBytes = bytes(Way::Wan);
    metrics.wireBytes = metrics.nicBytes + metrics.wanBytes + bytes(Way::Nvlink);
    if (const double seconds = layer.forwardTimes.dispatch.value; seconds > 0)
        metrics.logicalGBps = layer.choice.forwardDispatch.logicalBytes / seconds / kBytesPerGb;
    metrics.wireGBps = farthestRate(layer.forward);
    metrics.droppedShare = layer.loads.dropped;
    metrics.slowestRank = layer.loads.fullest;
    metrics.skew = layer.loads.skew;
    metrics.chosen = layer.choice.dispatch;
    metrics.forwardChunks = layer.choice.forwardPieces;
    metrics.backwardChunks = layer.choice.backwardPieces;
    metrics.layerMs = layer.forwardTimes.total.value * 1e3;
    const Seconds exposed = layer.forwardTimes.exposed, both = exposed + layer.backwardTimes.exposed;
    metrics.exposedMs = exposed.value * 1e3 * (both.value > 0 ? 1 - layer.spared() / both : 1);
    return metrics;
}

} // namespace trainyard
