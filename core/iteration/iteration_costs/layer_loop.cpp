// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/iteration_costs/layer_loop.h"

#include "core/iteration/placement/activation_shape.h"
#include "core/iteration/placement/activations_leave.h"
#include "core/iteration/placement/layer_facts.h"

#include <algorithm>

namespace trainyard {

void addLayerLoop(const Workload &workload, Costers &costers, IterationCosts &iteration)
{
    const Heterogeneity &h = workload.plan->heterogeneity;
    if (!h.isLayered())
        return;
    const auto layers = std::size_t(workload.degrees.chunks);
    std::vector<ShardTimes> longest(layers);
    for (const PipelineClass &pipelines : workload.layout.classes)
        for (std::size_t layer = 0; layer < layers; ++layer) {
            const ShardTimes times = costers.of(costers.view(pipelines)).layerExchange(pipelines, int(layer));
            longest[layer].gather = std::max(longest[layer].gather, times.gather);
            longest[layer].scatter = std::max(longest[layer].scatter, times.scatter);
        }
    const std::vector<bool> &uneven = workload.layout.shares.layersUneven;
    for (std::size_t c = 0; c < iteration.classes.size(); ++c) {
        LayerLoopTimes &loop = iteration.classes[c].layers;
        loop.prefetches = h.gatherPrefetch;
        for (std::size_t layer = 0; layer < layers; ++layer) {
            const double factor = layer < uneven.size() && uneven[layer] ? h.unevenPenalty : 1;
            loop.gather.push_back(toNanoseconds(longest[layer].gather * factor));
            loop.reduce.push_back(toNanoseconds(longest[layer].scatter * factor));
        }
        if (!boundariesLeave(*workload.plan))
            continue;
        const PipelineClass &pipelines = workload.layout.classes[c];
        const Workload &own = costers.view(pipelines, 0);
        const StateRates &way = costers.of(costers.view(pipelines)).site(pipelines, 0).states;
        loop.boundaryBytes = layerInputBytes(own);
        loop.inputShare = activationShape(own).keptShare;
        loop.store = toNanoseconds(Bytes { loop.boundaryBytes } / way.toHost);
        loop.load = toNanoseconds(Bytes { loop.boundaryBytes } / way.toGpu);
    }
}

} // namespace trainyard
