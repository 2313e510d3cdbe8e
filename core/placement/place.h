#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Seats for the stages of every pipeline. Two ways across datacenters: the pipeline goes across, in contiguous blocks of
// stages with all replicas of a stage in one datacenter (Atlas, arXiv 2411.14458: only activations cross the WAN); or
// whole pipelines stay in a datacenter and gradients cross. Ranks fill nodes in the order tensor, context, data,
// pipeline; a tensor group stays in one node, a replica of a stage in one pool.

#include "core/placement/resolve.h"
#include "core/schedule/chunks.h"

namespace trainyard {

/// The layout for one mode (not Auto). Where nothing can be seated, data is 0 and `unseated` says why; idle GPUs are
/// counted with their reason either way.
[[nodiscard]] Layout place(const Workload &workload, PlacementMode mode);

/// The modes that `placement.mode: auto` has to compare: one where there is only one datacenter or stages are pinned.
[[nodiscard]] std::vector<PlacementMode> candidateModes(const Plan &plan);

/// Layers of each virtual stage: `layersOfStages` where the plan gives them, dealt evenly to a stage's chunks, else even. Where they do not divide, middle stages take the remainder, since the first and the
/// last also hold the embedding and the head: under V placement one device holds both.
[[nodiscard]] std::vector<std::vector<StageChunk>> splitLayers(const ModelSpec &model, int stages, int chunksPerStage,
                                                               ChunkPlacement placement = ChunkPlacement::Loop,
                                                               const std::vector<int> &layersOfStages = {});

} // namespace trainyard
