// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/shard_exchange.h"

#include "core/engine/schedule/traits.h"
#include "core/iteration/placement/degrees.h"
#include "core/iteration/placement/stage_source.h"

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

/// With no more chunks than buffers all would lie whole at any time: an exchange before the end gains nothing.
constexpr int kGradientBuffers = 2, kWeightBuffers = 4;

} // namespace

ShardExchange shardExchange(const Plan &plan, const StackSpec &stack)
{
    if (plan.parallelism.zeroStage < 2 || !stageFacts(plan).hasLayers)
        return ShardExchange::Once;
    if (plan.heterogeneity.isLayered())
        return ShardExchange::ByLayers;
    // Where weights lie off the GPU each layer fetches its own shard anyway.
    if (plan.parallelism.pipeline == 1
        || (plan.parallelism.zeroStage >= 3 && plan.memory.parameterOffload != ParameterOffload::None))
        return ShardExchange::InLayers;
    return traitsOf(plan).takesSeveralChunks() && degreesOf(plan).chunks > kGradientBuffers
            && !stack.pipelineKeepsGathered
        ? ShardExchange::InRuns
        : ShardExchange::Once;
}

bool refusesSharding(const Plan &plan, const StackSpec &stack)
{
    return stack.refusesShardedPipelines && stageFacts(plan).hasLayers && plan.parallelism.pipeline > 1
        && plan.parallelism.zeroStage >= 2;
}

int chunksWithWholeGradients(const Plan &plan, const StackSpec &stack)
{
    const ShardExchange exchange = shardExchange(plan, stack);
    if (plan.parallelism.zeroStage < 2 || exchange == ShardExchange::InLayers)
        return 0;
    return exchange == ShardExchange::InRuns || exchange == ShardExchange::ByLayers ? kGradientBuffers
                                                                                    : degreesOf(plan).chunks;
}

int chunksWithWholeWeights(const Plan &plan, const StackSpec &stack)
{
    const ShardExchange exchange = shardExchange(plan, stack);
    if (plan.parallelism.zeroStage < 3 || exchange == ShardExchange::InLayers)
        return 0;
    if (exchange == ShardExchange::ByLayers) // the one at work and the one on its way
        return plan.heterogeneity.gatherPrefetch ? 2 : 1;
    return exchange == ShardExchange::InRuns ? std::min(kWeightBuffers, degreesOf(plan).chunks)
                                             : degreesOf(plan).chunks;
}

ChunkRuns expectedRuns(const Plan &plan, int microBatches)
{
    const int runs =
        traitsOf(plan).forwardsFirst ? 1 : (microBatches + plan.parallelism.pipeline - 1) / plan.parallelism.pipeline;
    return { runs, runs };
}

std::vector<ChunkRuns> chunkRuns(const Program &program, int device)
{
    std::vector<ChunkRuns> runs(std::size_t(program.shape.chunks));
    int lastForward = -1, lastBackward = -1;
    for (const Op &op : program.order[std::size_t(device)]) {
        if (isForward(op.kind) && op.chunk != std::exchange(lastForward, op.chunk))
            ++runs[std::size_t(op.chunk)].forward;
        if (makesGradient(op.kind) && op.chunk != std::exchange(lastBackward, op.chunk))
            ++runs[std::size_t(op.chunk)].backward;
    }
    return runs;
}

} // namespace trainyard
