#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// When the data-parallel ranks of a stage exchange what ZeRO-2 and ZeRO-3 shard. Without a pipeline every micro-batch
// scatters and gathers layer by layer. In a pipeline a device works on micro-batches of one chunk after the other: it
// adds their gradients up and scatters them once for such a run, behind the work of the next (Llama 3, arXiv
// 2407.21783, keeps gradients sharded in an interleaved pipeline so). What that costs: cost/shard_runs.h;
// docs/model.md, "Layers".

#include "core/engine/schedule/program.h"
#include "core/facts/hardware/stack_spec.h"
#include "core/facts/plan/plan.h"

namespace trainyard {

/// Once: gradients stay whole until the end of the iteration, as with ZeRO-1, and weights gathered; also where a
/// schedule turns to another chunk with every micro-batch. InLayers: every micro-batch, layer by layer. InRuns: once
/// for each run of micro-batches of a chunk (interleaved, breadth-first). ByLayers: once a pass for each layer, as
/// tasks of the graph (layered accumulation).
enum class ShardExchange : std::uint8_t { Once, InLayers, InRuns, ByLayers };

/// Of a plan with more than one data-parallel rank a stage.
[[nodiscard]] ShardExchange shardExchange(const Plan &plan, const StackSpec &stack);

/// The stack cannot run what the plan asks of it: ZeRO-2 or ZeRO-3 in a pipeline.
[[nodiscard]] bool refusesSharding(const Plan &plan, const StackSpec &stack);

/// Chunks of a stage whose gradients lie whole on a GPU at a time, beside its shard of all: the one at work and the one
/// that is being scattered; 0 where layers scatter theirs at once, or gradients are not sharded.
[[nodiscard]] int chunksWithWholeGradients(const Plan &plan, const StackSpec &stack);
/// Chunks whose gathered weights do: one at work and one on its way, for forwards and for backwards.
[[nodiscard]] int chunksWithWholeWeights(const Plan &plan, const StackSpec &stack);

/// Runs of one chunk on a device: consecutive forwards (or backwards) of it, whatever of the other kind lies between.
struct ChunkRuns {
    int forward = 0, backward = 0;
};
[[nodiscard]] std::vector<ChunkRuns> chunkRuns(const Program &program, int device);
/// The same in closed form, of a plan that exchanges InRuns: interleaved M / P, breadth-first 1.
[[nodiscard]] ChunkRuns expectedRuns(const Plan &plan, int microBatches);

} // namespace trainyard
