#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What ZeRO-2 and ZeRO-3 exchange in every layer, and how much of it shows: while one group of weights is at work the
// next is on its way. FSDP gathers a layer at a time, DeepSpeed matrix by matrix. Equations in docs/model.md, "Layers".

#include "core/iteration/cost/layer/layer_cost.h"

#include <array>
#include <span>

namespace trainyard {

/// Time of a gather or reduce-scatter over the shares that such ranks have, over that of even ones. Layer by layer it
/// is 1 here: there layers say which of them are uneven.
[[nodiscard]] double unevenFactor(const Workload &workload, const RankSet &ranks);

/// Elements of one layer on one GPU, before data parallelism shards them.
struct LayerElements {
    double dense = 0, experts = 0;
};
[[nodiscard]] LayerElements layerElements(const Workload &workload, bool expertLayer);
/// The same of a GPU that the model is cut for by other degrees than the plan's.
[[nodiscard]] LayerElements layerElements(const Workload &workload, bool expertLayer, const Degrees &degrees);

/// What a stack exchanges one after the other, in the order of forward: the whole layer, or attention's two matrices
/// and the MLP's two. Norms and biases, too small to be sharded, are counted with them, routed experts with the MLP's.
constexpr std::size_t kMostPieces = 4;
struct LayerPieces {
    std::array<LayerElements, kMostPieces> of;
    std::size_t count = 1;
};
[[nodiscard]] LayerPieces layerPieces(const Workload &workload, bool expertLayer, const Degrees &degrees);

/// What is gathered at once.
struct GatheredWeights {
    /// on one GPU, before data parallelism shards them
    double elements = 0;
    /// that compute can hide
    Seconds gather;
    /// of launching it, before the compute that follows is launched: nothing hides that
    Seconds host;
};

struct GatherTimes {
    Seconds shown, hidden;
};

/// Of a pass over `turns`, cyclically: gather i hides behind the work of turn i - 1, which is its share of `compute` by
/// elements, unless turn i - 1 alone has `live` elements or more (0: no limit), with which nothing is fetched ahead.
[[nodiscard]] GatherTimes gatherTimes(std::span<const GatheredWeights> turns, Seconds compute, double live);

/// Kernels of one layer and one micro-batch.
struct LayerCompute {
    Seconds forward, inputGrad, weightGrad;
    bool isRecomputed = false;
    /// weight gradients are operations of their own
    bool isSplit = false;
};

/// ZeRO-2 scatters a layer's gradients after its backward, ZeRO-3 gathers its weights before forward and before
/// backward too, while what came before computes. A split backward hides gathers behind input gradients and shows
/// scatters with weight gradients, so that neither part is longer because the other is shorter. In a pipeline runs of
/// micro-batches exchange instead (shard_exchange).
void addShardTraffic(ChunkCost &cost, const LayerCompute &compute, const Workload &workload, const LayerSite &site,
    const LayerPieces &pieces);

} // namespace trainyard
