// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/shard_runs.h"

#include "core/cost/stage_coster.h"
#include "core/schedule/shard_exchange.h"

#include <algorithm>

namespace trainyard {

namespace {

/// An exchange behind `work`: what shows of it, and the compute that it takes while it hides.
void addExchange(OpSplit &split, Seconds exchange, Seconds work, double overlap, double slowdown, double perOperation)
{
    const Seconds hidden = std::min(exchange, work * overlap);
    split.data += (exchange - hidden) * perOperation;
    split.compute += hidden * (slowdown * perOperation);
}

} // namespace

void addShardRuns(const Workload &workload, StageCoster &coster, const PipelineClass &pipelines, const Program &program,
                  std::vector<StageCosts> &stages)
{
    const StackSpec &stack = workload.stack;
    const bool gathers = workload.plan->parallelism.zeroStage >= 3;
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
        const std::vector<ChunkRuns> runs = chunkRuns(program, int(stage));
        std::vector<ChunkCost> &chunks = stages[stage].chunks;
        Seconds work;              // of one micro-batch and a chunk, forward and backward
        for (const ChunkCost &chunk : chunks)
            work += (chunk.forward.total() + chunk.inputGrad.total() + chunk.weightGrad.total() + chunk.recompute.total()) * (1.0 / double(chunks.size()));
        for (std::size_t c = 0; c < chunks.size(); ++c) {
            const StageCoster::ShardTimes times = coster.shardTimes(pipelines, int(stage), int(c));
            const double microBatches = pipelines.microBatches;
            const auto behind = [&](int count) { return work * (microBatches / std::max(1, count)); };
            const ChunkRuns &run = runs[c];
            const int scatters = run.backward - (c == 0 ? 1 : 0);   // chunk 0 ends last: stage's reduction
            addExchange(chunks[c].inputGrad, times.scatter, behind(run.backward), stack.gradientOverlap, stack.overlapSlowdown, scatters / microBatches);
            if (!gathers)
                continue;
            addExchange(chunks[c].inputGrad, times.gather, behind(run.backward), stack.parameterOverlap, stack.overlapSlowdown, run.backward / microBatches);
            const int fetches = run.forward - (c == 0 ? 1 : 0);     // the first of all: the stage's gather
            addExchange(chunks[c].forward, times.gather, behind(run.forward), stack.parameterOverlap, stack.overlapSlowdown, fetches / microBatches);
        }
    }
}

} // namespace trainyard
