// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/degrees.h"

#include "core/engine/schedule/traits.h"

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
    degrees.chunks = traitsOf(plan).chunksPerStage(p.virtualPipeline);
    degrees.slices = traitsOf(plan).isSliced() ? p.tokenSlices : 1;
    degrees.copies = traitsOf(plan).copies();
    degrees.zeroStage = p.zeroStage;
    degrees.isSequenceParallel = p.usesSequenceParallel();
    return degrees;
}

} // namespace trainyard
