#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What ZeRO-2 and ZeRO-3 cost in a pipeline of several chunks a stage: exchanges once a run of micro-batches
// (placement/shard_exchange.h), behind the work of the next run. Equations in docs/model.md, "Layers".

#include "core/iteration/cost/layer/op_split.h"
#include "core/iteration/placement/resolve.h"
#include "core/iteration/placement/shard_exchange.h"

namespace trainyard {

/// Exchange of one chunk's weights and gradients among the data-parallel ranks of its stage.
struct ShardTimes {
    Seconds gather, scatter;
};

/// Forward and backward of a micro-batch through one of `chunks` equal chunks, of which `whole` is the sum.
[[nodiscard]] Seconds workOfChunk(const ChunkCost &whole, double chunks);

/// Adds to the operations of one chunk what shows of the exchanges of its runs, and what they take of compute while
/// they hide: scatter, gather for backward and gather for forward in turn, behind `work` of each micro-batch of the
/// next run. `isLast`: the chunk whose backward ends last; its last scatter is the stage's reduction, its first gather
/// the stage's.
void addExchangesOfRuns(ChunkCost &cost, const Workload &workload, const ShardTimes &times, ChunkRuns runs,
    double microBatches, Seconds work, bool isLast);

} // namespace trainyard
