#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What one layer, the embedding and the head cost on one GPU type, for one micro-batch and the plan's tensor, context
// and expert groups. Matrix products by cost/gemm, attention by its FLOPs, everything else by memory traffic,
// communication by cost/collectives. Equations in docs/model.md, "Layers".

#include "core/facts/network/collectives.h"
#include "core/iteration/cost/layer/op_split.h"
#include "core/iteration/model_states/optimizer_step.h"
#include "core/iteration/placement/ranks.h"

namespace trainyard {

/// Shares of a layer's time that its attention takes, projections and its norm included; the rest is the MLP's.
struct AttentionShare {
    double forward = 0.5, inputGrad = 0.5, weightGrad = 0.5, recompute = 0.5;
    /// of the forward, what its s x s part takes alone
    double core = 0;
};

struct LayerSite { // where a stage computes: what its layers see of the hardware
    /// what computes there
    RankSet ranks;
    const GpuSpec *gpu = nullptr;
    SustainedRates sustained;
    /// to GPUs of the same node; to other nodes
    Link device, fabric;
    RankGroup tensor, context, expert, expertTensor, data;
    /// replicas of one shard of the experts
    RankGroup expertData;
    /// way to what lies off the GPU
    StateRates states;
};

/// Whether rows of so many elements of a format divide into the pieces that tensor cores take (docs/model.md, "Off the
/// grid").
[[nodiscard]] bool isOnGrid(const GpuSpec &gpu, Precision precision, double elements);
/// Of fused and unfused attention within a training step, relative to its kernels alone.
[[nodiscard]] double attentionSpeed(const Workload &workload, const LayerSite &site);
/// From a GPU of the location to other nodes of its datacenter.
[[nodiscard]] Link locationFabric(const Requested &asked, StageLocation location);
[[nodiscard]] LayerSite layerSite(const Workload &workload, const RankSet &ranks);

/// True where every micro-batch scatters the gradients of each layer on its own (ZeRO-2 on), and from ZeRO-3 on fetches
/// its weights (ShardExchange::InLayers).
[[nodiscard]] bool communicatesInLayers(const Workload &workload, const LayerSite &site);

/// Of the kernels; communication divides alike.
[[nodiscard]] AttentionShare attentionShare(const Workload &workload, const LayerSite &site, bool expertLayer);
[[nodiscard]] ChunkCost layerCost(const Workload &workload, const LayerSite &site, bool expertLayer);
/// Of a layer with experts, and how its experts run.
struct ExpertLayerCost;
[[nodiscard]] ChunkCost layerCost(const Workload &workload, const LayerSite &site, ExpertLayerCost &experts);
[[nodiscard]] ChunkCost embeddingCost(const Workload &workload, const LayerSite &site);
[[nodiscard]] ChunkCost headCost(const Workload &workload, const LayerSite &site);

} // namespace trainyard
