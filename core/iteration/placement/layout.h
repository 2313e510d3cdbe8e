#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Who computes what where: the result of resolving a plan. Pipelines that sit alike are one class. Plain values.

#include "core/facts/plan/plan.h"

#include <string>
#include <vector>

namespace trainyard {

struct StageLocation {
    /// index into Cluster::datacenters
    int datacenter = 0;
    /// index into its pools
    int pool = 0;
    /// tensor parallel degree of its GPUs, where not all have the plan's; 0: that one
    int tensor = 0;
    bool operator==(const StageLocation &) const = default;
};

struct DatacenterBlock { // contiguous stages
    int datacenter = 0, stages = 0;
    bool operator==(const DatacenterBlock &) const = default;
};

struct StageChunk { // layers of one virtual stage
    int firstLayer = 0, layers = 0;
    /// of those
    int expertLayers = 0;
    bool hasEmbedding = false, hasHead = false;
    bool operator==(const StageChunk &) const = default;
};

struct PipelineClass { // pipelines that are alike in every way
    int firstPipeline = 0, pipelines = 1;
    int microBatches = 1;
    /// per stage
    std::vector<StageLocation> locations;
    int cellMember = 0,
        cellMembers = 1; // of its DP-cell under temporal sharing: equal cells are the pipelines of each member
    /// sequences of one, where these pipelines have their own size; 0: the plan's
    int microBatch = 0;
    /// of the states that ZeRO divides, on each of their GPUs; 0: as much as on every other
    double stateShare = 0;
    bool operator==(const PipelineClass &) const = default;
};

struct GpuRun { // consecutive GPUs of a pool that serve one stage; for the map's colours
    int datacenter = 0, pool = 0;
    /// in node order: GPU g sits in node g / gpusPerNode
    int firstGpu = 0, gpus = 0;
    int stage = 0;
    int firstPipeline = 0, pipelines = 0;
    /// as StageLocation has it
    int tensor = 0;
    [[nodiscard]] StageLocation location() const { return { datacenter, pool, tensor }; }
};

struct IdleGpus {
    int datacenter = 0, pool = 0, gpus = 0;
    /// "a stage needs 64 GPUs here, 8 are left"
    std::string reason;
    /// which is that no link joins their datacenter to one that holds stages
    bool isUnlinked = false;
};

/// What a set of equal GPUs got, where work or states are shared out by what GPUs can do.
struct ReplicaShare {
    StageLocation at;
    int firstPipeline = 0, pipelines = 0;
    /// of each replica: size times number of its micro-batches
    int samples = 0;
    /// of each replica
    double stateShare = 0;
    /// "slow, but its memory is free"
    std::string why;
};

/// Of a layout that is dealt so. Seconds of one layer, forward and backward, of the slowest rank.
struct SharedOut {
    /// evenLayerTime: with even shares
    double layerTime = 0, evenLayerTime = 0;
    std::vector<ReplicaShare> ranks;
    /// of `ranks`: all others wait for it
    int slowest = 0;
    /// of each: with an even share of the states, and with none
    std::vector<int> evenMicroBatch, largestMicroBatch;
    /// [layer]: its collectives are over uneven shares
    std::vector<bool> layersUneven;
    /// with `memory.offload_fraction: auto`: all that may leave does, as the deal has counted
    bool allLeaves = false;
    /// it could not be dealt as asked, in one sentence
    std::string why;
};

/// DP-cells of the layout, under temporal sharing of the WAN.
struct CellSize {
    int reached = 1,
        smallest = 0; // pipelines of the largest and of the smallest cell; smallest 0: no pipeline crosses the WAN
    /// as asked for, or C = WAN time / forward time, rounded
    int wanted = 1;
    /// most pipelines of a cell that lie on different nodes
    int nodes = 0;
    /// the plan states the size
    bool asked = false;
    /// C, of the slowest boundary and the slowest stage
    double ratio = 0;
};

struct Layout {
    /// never Auto
    PlacementMode mode = PlacementMode::PipelineAcross;
    /// data-parallel degree reached; 0 = nothing could be placed
    int data = 0;
    std::vector<PipelineClass> classes;
    /// [stage][virtual chunk]
    std::vector<std::vector<StageChunk>> chunks;
    std::vector<GpuRun> runs;
    std::vector<IdleGpus> idle;
    CellSize cell;
    /// empty where everything is even
    SharedOut shares;
    int gpusUsed = 0, gpusTotal = 0;
    /// why data is 0, in one sentence
    std::string unplaced;
};

} // namespace trainyard
