#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What unequal GPUs that train one model under fully sharded data parallelism could each be given, as numbers alone:
// seconds of one layer and bytes by micro-batch for each kind of rank. Cephalo (arXiv 2411.01075) parts two shares that
// others tie together: of the batch, b = m · l (micro-batch times their count), and of the states, r. No plan and no
// workload: whoever has one of those fills this in. Values, any thread. docs/model.md, "Mixed GPUs".

#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// Equal ranks: whole layers on equal GPUs. What is pinned holds for each of them; ranks of which only some are pinned
/// are two kinds.
struct RankKind {
    /// for sentences alone: "P40 in Iowa"
    std::string name;
    int ranks = 1;
    /// seconds of one layer for micro-batch 1, 2, …: f(m), b(m)
    std::vector<double> forward, backward;
    /// Bytes beside states at micro-batch 1, 2, …: C(m). What a smaller micro-batch takes a larger one takes too: dips
    /// of a measurement are not used. The shortest of the three tables bounds the micro-batch.
    std::vector<double> compute;
    /// bytes that each of the rank's samples keeps on the GPU besides, until its backward
    double perSample = 0;
    /// bytes for compute and states together: memory_fraction · capacity − communication buffers
    double room = 0;
    /// bytes, for equal utilization alone; capacity 0: utilization is of the room
    double capacity = 0, buffers = 0;
    /// pinned; either 0: the rank keeps states and computes nothing
    std::optional<int> microBatch, microBatches;
    /// pinned, of each rank
    std::optional<double> stateShare;
};

enum class StateFill {
    /// keep even unless a rank has no room: the largest share is as small as can be (released default)
    MinParams,
    /// even while no GPU is half full, else the fullest GPU is as empty as can be (released)
    MinUtilization,
    /// MinParams as released: C is read at the count of micro-batches instead of their size, so that ranks seem emptier
    /// than they are. What it fills may not fit.
    MinParamsReleased,
};

struct ShareProblem {
    std::vector<RankKind> kinds;
    /// samples of all ranks together: B
    int batch = 0;
    /// seconds of one layer with even shares: AG, RS
    double gather = 0, reduceScatter = 0;
    /// seconds of each further micro-batch of a layer's backward: δ (released: 10 ms)
    double overhead = 0;
    /// collectives with a rank that cannot hold an even share take so much longer: u
    double unevenPenalty = 1.25;
    /// of the whole model, divided over the ranks: S
    double stateBytes = 0;
    StateFill stateFill = StateFill::MinParams;
    /// false: every rank holds an even share, which bounds its micro-batch
    bool balancesState = true;
    /// false: every rank has as many samples, one more where they do not divide
    bool balancesCompute = true;
    /// false: collectives repeat with each micro-batch, as plain accumulation does
    bool layered = true;
    /// false: collectives wait for compute and compute for them
    bool overlaps = true;
    /// a backward runs its forward again; false: what it makes anew is in b(m), if anything
    bool recomputes = true;
    /// false: one micro-batch a rank
    bool accumulates = true;
    bool mayIdle =
        false; // a rank may get no sample, and keep states, where that is faster or there are too few samples
};

/// What some equal ranks of a kind get.
struct RankShare {
    int kind = 0, ranks = 1;
    /// m, l; both 0 where the rank computes nothing
    int microBatch = 0, microBatches = 0;
    /// r, of each rank
    double stateShare = 0;
    /// seconds of one layer, forward and backward: T
    double time = 0;
    /// of each rank, beside its states: C(m) and what its samples keep
    double computeBytes = 0;
    /// it cannot hold an even share: its collectives pay the penalty
    bool isUneven = false;

    [[nodiscard]] int samples() const { return microBatch * microBatches; }
    bool operator==(const RankShare &) const = default;
};

struct Shares {
    /// seconds of the slowest rank: max T
    double layerTime = 0;
    /// over all ranks: what the released code bounds memory by
    int sumMicroBatch = 0;
    /// of all ranks: compute and states, and what there is for them
    double usedBytes = 0, roomBytes = 0;
    /// kinds in their order, within one the larger shares of the batch first
    std::vector<RankShare> ranks;

    bool operator==(const Shares &) const = default;
};

} // namespace trainyard
