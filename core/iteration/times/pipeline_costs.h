#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What one training iteration takes, ready for its graph: the times of operations, boundaries and steps of each class
// of equal pipelines, in nanoseconds, and the order of its work. Plain values: core/iteration/iteration_costs makes
// them, core/iteration/graph makes tasks of them.

#include "core/engine/schedule/program.h"
#include "core/engine/timeline/task_graph.h"
#include "core/iteration/times/layer_loop_times.h"
#include "core/iteration/times/offload_times.h"
#include "core/iteration/times/state_times.h"

#include <memory>
#include <vector>

namespace trainyard {

class OpMemory;

struct OpTimes { // of one chunk of one stage and one micro-batch
    Nanoseconds forward = 0;
    /// input and weight gradients, recompute included where it is fused
    Nanoseconds backward = 0;
    /// for programs that split them; they add up to backward
    Nanoseconds inputGrad = 0, weightGrad = 0;
    // Of backward (and of inputGrad, where split), the part that recomputes: drawn as a span of its own right before.
    // An operation that its program does not mark `recomputes` takes that much less.
    Nanoseconds recompute = 0;
    bool operator==(const OpTimes &) const = default;
};

// Temporal sharing (Atlas, arXiv 2411.14458): the pipelines of a DP-cell take turns on all node pairs of the cell. Each
// pipeline of a cell is a class of its own, a member; equal cells are the pipelines that such a class stands for. The
// members of a cell share one channel a boundary and direction, which serves who waits by `turns`: the owner scatters
// its pieces inside the datacenter, all send, the receivers gather them again.

/// Between virtual stages q and q + 1 of a chain; [0] forward direction, [1] backward. Not used where both lie on one
/// device. Boundaries that cross between the same two devices in the same direction share one FIFO channel.
struct BoundaryTimes {
    /// a channel with its own track; else a lag
    bool isWan = false;
    /// index into Cluster::wanLinks
    int wanLink = -1;
    /// index into IterationCosts::linkCapacity of each direction; used where shared
    int linkDirection[2] = { 0, 0 };
    /// time on the channel, uncontended (WAN), or the whole transfer (local)
    Nanoseconds serialization[2] = { 0, 0 };
    /// after the channel is free again
    Nanoseconds latency[2] = { 0, 0 };
    /// before and after the channel, where a cell shares it; 0 = absent
    Nanoseconds scatter[2] = { 0, 0 };
    Nanoseconds gather[2] = { 0, 0 };
    double bytes[2] = { 0, 0 };
    /// bytes/s of one pipeline's channel, or of a cell's
    double rateCap[2] = { 0, 0 };
    bool operator==(const BoundaryTimes &) const = default;
};

struct SyncAndStepTimes { // after the last backward of a stage; 0 = absent
    /// gradient reduction, whole
    Nanoseconds reduce = 0;
    /// how long before the end of the last backward it may start
    Nanoseconds reduceEarly = 0;
    Nanoseconds optimizer = 0;
    /// parameter all-gather that nothing hides
    Nanoseconds gather = 0;
    bool operator==(const SyncAndStepTimes &) const = default;
};

/// Communication inside the operations of one chunk of one stage; of a backward what its gradients add up to.
struct OpExposed {
    ExposedSeconds forward, inputGrad, weightGrad, recompute;
};

struct PipelineCosts { // of one class of equal pipelines
    /// how many it stands for
    int pipelines = 1;
    /// of its cell; the members of a cell follow each other in IterationCosts::classes and differ in micro-batches only
    int cellMember = 0, cellMembers = 1;
    Program program;
    /// [device * chunks + chunk]
    std::vector<OpTimes> ops;
    // A forward and a backward at once, recomputation apart: [(device * chunks + forward's chunk) * chunks +
    // backward's]. Empty where the program pairs none.
    std::vector<Nanoseconds> pairs;
    /// as ops; empty where nobody asks
    std::vector<OpExposed> exposed;
    /// as pairs: seconds of expert traffic that neither of the two hides
    std::vector<double> pairedExpert;
    /// [virtual stage q], q < virtualStages - 1
    std::vector<BoundaryTimes> boundaries;
    /// [device]
    std::vector<SyncAndStepTimes> syncAndStep;
    /// empty where everything stays
    OffloadTimes offload;
    /// rows of states off the GPU, for which nothing waits
    StateTimes states;
    /// empty but where all micro-batches go through a layer before the next one
    LayerLoopTimes layers;
    /// [device]; empty where memory is not counted
    std::vector<std::shared_ptr<const OpMemory>> memory;
};

struct IterationCosts {
    std::vector<PipelineCosts> classes;
    /// of the members of a cell
    TurnOrder turns = TurnOrder::RoundRobin;
    /// a stage's reduction waits for that stage of every class
    bool reduceJoinsClasses = true;
    /// every optimizer step waits for every reduction (gradient norm)
    bool optimizerBarrier = false;
    /// host time at the end of the iteration
    Nanoseconds overhead = 0;
    /// bytes/s, one a link direction; empty = no link can be a bottleneck
    std::vector<double> linkCapacity;
    /// the plan recomputes at all; else nothing is told apart by it
    bool isRecomputing = false;
};

} // namespace trainyard
