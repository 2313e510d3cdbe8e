// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/recompute.h"

#include <algorithm>

namespace trainyard {

bool recomputesAnything(const Plan &plan)
{
    const MemoryStrategy &memory = plan.memory;
    return memory.recompute != Recompute::None || memory.recomputeNorms || memory.recomputeActivationFunction
        || memory.recomputeUpProjection || memory.recomputeSharedExperts;
}

std::vector<RecomputedLayers> recomputedLayers(const Workload &workload, int stage)
{
    const MemoryStrategy &memory = workload.plan->memory;
    const auto &chunks = workload.layout.chunks[std::size_t(stage)];
    std::vector<RecomputedLayers> layers(chunks.size());
    if (memory.recompute != Recompute::Full)
        return layers;
    int left = memory.recomputeLayers.value_or(workload.model.layers);
    for (std::size_t c = 0; c < chunks.size(); ++c) {
        const int dense = chunks[c].layers - chunks[c].expertLayers;
        layers[c].dense = std::min(left, dense);
        layers[c].experts = std::min(left - layers[c].dense, chunks[c].expertLayers);
        left -= layers[c].dense + layers[c].experts;
    }
    return layers;
}

double recomputedShare(const Workload &workload)
{
    double recompute = 0, all = 0;
    for (std::size_t stage = 0; stage < workload.layout.chunks.size(); ++stage) {
        for (const RecomputedLayers &layers : recomputedLayers(workload, int(stage)))
            recompute += layers.dense + layers.experts;
        for (const StageChunk &chunk : workload.layout.chunks[stage])
            all += chunk.layers;
    }
    return all > 0 ? recompute / all : 0;
}

} // namespace trainyard
