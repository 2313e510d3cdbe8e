#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Locations for the stages of every pipeline. Two ways across datacenters: the pipeline goes across, in contiguous
// blocks of stages with all replicas of a stage in one datacenter (Atlas, arXiv 2411.14458: only activations cross the
// WAN); or whole pipelines stay in a datacenter and gradients cross. Ranks fill nodes in the order tensor, context,
// data, pipeline; a tensor group stays in one node where it can, a replica of a stage in one pool.

#include "core/engine/schedule/chunks.h"
#include "core/iteration/placement/block_search.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// How locations are taken where the engine chooses.
struct OpenPlace {
    /// LocationBook::preferFastest
    bool fastestFirst = false;
    /// LocationBook::leaveRoom
    bool leavesRoom = false;
};

/// All replicas of each block's stages in its datacenter. There has to be room for them.
[[nodiscard]] Layout placeBlocks(
    const Requested &asked, const std::vector<DatacenterBlock> &blocks, int data, OpenPlace how = {});

/// The blocks that the plan pins. Where they cannot be placed, data is 0 and `unplaced` says why; idle GPUs are counted
/// with their reason here as everywhere.
[[nodiscard]] Layout placePinned(const Requested &asked);

/// Data 0, and why that many replicas of stages find no locations.
[[nodiscard]] Layout placeNothing(const Requested &asked, int data);

/// What all locations together hold, and all micro-batches feed.
[[nodiscard]] int mostReplicas(const Requested &asked);

/// Numbers of replicas below `most` that `data: auto` compares, descending: up to 24 all of them, else of those with
/// equally many micro-batches in the fullest pipeline the most and the least, of more than 24 such every so many, and
/// the last. Where the model has experts, those whose ranks whole groups of experts divide.
[[nodiscard]] std::vector<int> fewerReplicas(const Requested &asked, int most);

/// Whole pipelines in datacenters that can pass gradients to each other over links, filled one after another; one
/// layout for each pair of sites to begin with, `most` in all, where there is room for more than the plan asks for. One
/// with data 0 and the reason where there are locations for none. `data`: where it is open, so many.
[[nodiscard]] std::vector<Layout> placeWholePipelines(
    const Requested &asked, int most = 24, std::optional<int> data = {}, OpenPlace how = {});

/// Which datacenter holds how many stages of `data` replicas, and which links lead where: enough for canHoldAll().
[[nodiscard]] SearchTimes searchRoom(const Requested &asked, int data);

/// The modes that `placement.mode: auto` has to compare: one where there is only one datacenter or stages are pinned.
[[nodiscard]] std::vector<PlacementMode> candidateModes(const Plan &plan);

/// Layers of each virtual stage: `layersOfStages` where the plan gives them, dealt evenly to a stage's chunks, else
/// even. Where they do not divide, middle stages take the remainder, since the first and the last also hold the
/// embedding and the head: under V placement one device holds both.
[[nodiscard]] std::vector<std::vector<StageChunk>> splitLayers(const ModelSpec &model, int stages, int chunksPerStage,
    ChunkPlacement placement = ChunkPlacement::Loop, const std::vector<int> &layersOfStages = {});

} // namespace trainyard
