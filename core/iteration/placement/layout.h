#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Who computes what where: the result of resolving a plan. Pipelines that sit alike are one class. Plain values.

#include "core/facts/plan/plan.h"

#include <string>
#include <vector>

namespace trainyard {

struct StageLocation {
    int datacenter = 0; // index into Cluster::datacenters
    int pool = 0; // index into its pools
    int tensor = 0; // tensor parallel degree of its GPUs, where not all have the plan's; 0: that one
    bool operator==(const StageLocation &) const = default;
};

struct DatacenterBlock { // contiguous stages
    int datacenter = 0, stages = 0;
    bool operator==(const DatacenterBlock &) const = default;
};

struct StageChunk { // layers of one virtual stage
    int firstLayer = 0, layers = 0;
    int expertLayers = 0; // of those
    bool hasEmbedding = false, hasHead = false;
    bool operator==(const StageChunk &) const = default;
};

struct PipelineClass { // pipelines that are alike in every way
    int firstPipeline = 0, pipelines = 1;
    int microBatches = 1;
    std::vector<StageLocation> locations; // per stage
    int cellMember = 0,
        cellMembers = 1; // of its DP-cell under temporal sharing: equal cells are the pipelines of each member
    int microBatch = 0; // sequences of one, where these pipelines have their own size; 0: the plan's
    double stateShare = 0; // of the states that ZeRO divides, on each of their GPUs; 0: as much as on every other
    bool operator==(const PipelineClass &) const = default;
};

struct GpuRun { // consecutive GPUs of a pool that serve one stage; for the map's colours
    int datacenter = 0, pool = 0;
    int firstGpu = 0, gpus = 0; // in node order: GPU g sits in node g / gpusPerNode
    int stage = 0;
    int firstPipeline = 0, pipelines = 0;
    int tensor = 0; // as StageLocation has it
    [[nodiscard]] StageLocation location() const { return { datacenter, pool, tensor }; }
};

struct IdleGpus {
    int datacenter = 0, pool = 0, gpus = 0;
    std::string reason; // "a stage needs 64 GPUs here, 8 are left"
    bool isUnlinked = false; // which is that no link joins their datacenter to one that holds stages
};

/// What a set of equal GPUs got, where work or states are shared out by what GPUs can do.
struct ReplicaShare {
    StageLocation at;
    int firstPipeline = 0, pipelines = 0;
    int samples = 0; // of each replica: size times number of its micro-batches
    double stateShare = 0; // of each replica
    std::string why; // "slow, but its memory is free"
};

/// Of a layout that is dealt so. Seconds of one layer, forward and backward, of the slowest rank.
struct SharedOut {
    double layerTime = 0, evenLayerTime = 0; // evenLayerTime: with even shares
    std::vector<ReplicaShare> ranks;
    int slowest = 0; // of `ranks`: all others wait for it
    std::vector<int> evenMicroBatch, largestMicroBatch; // of each: with an even share of the states, and with none
    std::vector<bool> layersUneven; // [layer]: its collectives are over uneven shares
    std::string why; // it could not be dealt as asked, in one sentence
};

/// DP-cells of the layout, under temporal sharing of the WAN.
struct CellSize {
    int reached = 1,
        smallest = 0; // pipelines of the largest and of the smallest cell; smallest 0: no pipeline crosses the WAN
    int wanted = 1; // as asked for, or C = WAN time / forward time, rounded
    int nodes = 0; // most pipelines of a cell that lie on different nodes
    bool asked = false; // the plan states the size
    double ratio = 0; // C, of the slowest boundary and the slowest stage
};

struct Layout {
    PlacementMode mode = PlacementMode::PipelineAcross; // never Auto
    int data = 0; // data-parallel degree reached; 0 = nothing could be placed
    std::vector<PipelineClass> classes;
    std::vector<std::vector<StageChunk>> chunks; // [stage][virtual chunk]
    std::vector<GpuRun> runs;
    std::vector<IdleGpus> idle;
    CellSize cell;
    SharedOut shares; // empty where everything is even
    int gpusUsed = 0, gpusTotal = 0;
    std::string unplaced; // why data is 0, in one sentence
};

} // namespace trainyard
