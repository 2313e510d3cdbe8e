// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/memory/layered_memory.h"

#include "core/iteration/memory/in_flight_room.h"
#include "core/iteration/placement/activations_leave.h"
#include "core/iteration/placement/layer_facts.h"
#include "core/iteration/placement/ranks.h"
#include "core/iteration/placement/recompute.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Bytes of one micro-batch that leave a layer, and how many of them are on the GPU on their way, at most.
struct Leaving {
    double layer = 0, onTheirWay = 0;
};

/// SSDTrain's: an attention and an MLP, or a layer that is recomputed as a whole.
Leaving leavingByOffload(const Workload &view, bool isExpert, bool isWhole)
{
    const MemoryStrategy &memory = view.plan->memory;
    ActivationShape shape = activationShape(view);
    if (shape.recompute == Recompute::Full && !isWhole)
        shape.recompute = Recompute::None;
    double attention = 0, mlp = 0;
    for (const SavedTensor &tensor : savedTensors(view.model, isExpert, shape, view.stack))
        if (mayLeave(memory, tensor, memory.offloadMinElements))
            (tensor.child == LayerChild::Attention ? attention : mlp) += tensor.bytes;
    const double share = onlyExpertInputLeaves(memory) ? 1 : memory.offloadFraction.value_or(1);
    const int modules = 1 + memory.offloadGroup * (1 + memory.offloadAhead);
    return { share * (attention + mlp), share * modules * (isWhole ? attention + mlp : std::max(attention, mlp)) };
}

/// Of each layer of the replica.
std::vector<Leaving> leavingOfLayers(const Workload &view, CountedAway away)
{
    const std::vector<StageChunk> &layers = view.layout.chunks.front();
    if (boundariesLeave(*view.plan)) {
        const double input = keptInputBytes(view);
        return std::vector(layers.size(), Leaving { input, kInputsOnTheirWay * input });
    }
    std::vector<Leaving> leaving(layers.size());
    if (away != CountedAway::ActivationOffload || !offloadFreesShares(*view.plan))
        return leaving;
    const std::vector<RecomputedLayers> recomputed = recomputedLayers(view, 0);
    for (std::size_t i = 0; i < layers.size(); ++i)
        leaving[i] = i > 0 && areAsLarge(layers[i], layers[i - 1]) && recomputed[i] == recomputed[i - 1]
            ? leaving[i - 1]
            : leavingByOffload(view, layers[i].expertLayers > 0,
                view.plan->memory.recompute == Recompute::Full && recomputed[i].dense + recomputed[i].experts > 0);
    return leaving;
}

} // namespace

bool offloadFreesShares(const Plan &plan)
{
    const MemoryStrategy &memory = plan.memory;
    return plan.heterogeneity.isLayered() && activationsLeaveTo(memory) != ActivationOffload::None
        && (memory.offloadPolicy == OffloadPolicy::SsdTrain || memory.recompute != Recompute::None);
}

double layeredLeaving(const Workload &view)
{
    double most = 0;
    for (const Leaving &layer : leavingOfLayers(view, CountedAway::ActivationOffload))
        most = std::max(most, layer.layer);
    return most;
}

double layeredWork(const Workload &view, CountedAway away)
{
    const std::vector<Leaving> leaving = leavingOfLayers(view, away);
    double most = 0, onTheirWay = 0;
    const std::vector<ChunkMemory> chunks = chunkMemory(view, 0);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        const LiveBound bound = liveBound({ &chunks[i], 1 }, false);
        most = std::max(most,
            i + 1 == chunks.size() ? bound.of(1, 1)
                                   : bound.of(1, 0) - std::max(0.0, chunks[i].kept - leaving[i].layer));
        onTheirWay = std::max(onTheirWay, leaving[i].onTheirWay);
    }
    return most + onTheirWay;
}

double layeredKept(const Workload &view, CountedAway away)
{
    const std::vector<Leaving> leaving = leavingOfLayers(view, away);
    double kept = 0;
    const std::vector<ChunkMemory> chunks = chunkMemory(view, 0);
    for (std::size_t layer = 0; layer + 1 < chunks.size(); ++layer)
        kept += std::max(0.0, chunks[layer].kept - leaving[layer].layer);
    return kept;
}

} // namespace trainyard
