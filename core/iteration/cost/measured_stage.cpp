// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/measured_stage.h"

#include "core/iteration/cost/stage_coster.h"

#include <algorithm>

namespace trainyard {

namespace {

/// One of `chunks` equal parts of a stage.
ChunkCost measuredChunk(const Workload &workload, int stage, int chunks)
{
    const MeasuredStage &measured = workload.source.measuredAt(stage);
    ChunkCost chunk;
    chunk.forward.compute = measured.forward / chunks;
    chunk.inputGrad.compute = measured.inputGrad / chunks;
    chunk.weightGrad.compute = measured.weightGrad / chunks;
    if (workload.plan->memory.recompute != Recompute::None)
        chunk.recompute.compute = measured.recompute / chunks;
    return chunk;
}

} // namespace

StageCosts measuredStage(const Workload &workload, int stage, int chunks, const RankGroup &data)
{
    const int ofOne = std::max(1, chunks / workload.degrees.copies); // the second copy's are the mirror stage's
    StageCosts result;
    for (int c = 0; c < chunks; ++c)
        result.chunks.push_back(measuredChunk(workload, c < ofOne ? stage : workload.degrees.mirrorOf(stage), ofOne));
    if (const Bytes gradient = stageGradient(workload, stage); gradient.value > 0)
        result.reduce = result.lastBucket = allReduceTime(gradient, data);
    return result;
}

ChunkCost measuredCost(const Workload &workload, const GpuLayerTimes &times)
{
    const int microBatch = workload.plan->workload.microBatch;
    ChunkCost layer;
    layer.forward.compute = milliseconds(times.forwardMs.at(microBatch));
    layer.weightGrad.compute = milliseconds(times.backwardMs.at(microBatch) / 2);
    layer.inputGrad.compute = layer.weightGrad.compute;
    if (workload.plan->memory.recompute == Recompute::Full)
        layer.recompute.compute = layer.forward.compute;
    return layer;
}

} // namespace trainyard
