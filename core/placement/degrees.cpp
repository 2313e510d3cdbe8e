// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/placement/degrees.h"

#include "core/schedule/chunks.h"

namespace trainyard {

Degrees degreesOf(const Plan &plan)
{
    const Parallelism &p = plan.parallelism;
    Degrees degrees;
    degrees.tensor = p.tensor;
    degrees.context = p.context;
    degrees.expert = p.expert;
    degrees.expertTensor = p.expertTensor;
    degrees.pipeline = p.pipeline;
    degrees.data = p.data;
    degrees.chunks = chunksPerStage(plan.schedule, p.virtualPipeline);
    degrees.slices = chunkPlacement(plan.schedule) == ChunkPlacement::Slices ? p.tokenSlices : 1;
    degrees.copies = modelCopies(plan.schedule);
    degrees.zeroStage = p.zeroStage;
    degrees.isSequenceParallel = p.usesSequenceParallel();
    return degrees;
}

} // namespace trainyard
