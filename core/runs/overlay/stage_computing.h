#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Seconds of computing of one stage in an iteration, as the plan has it.

#include "core/iteration/iteration_costs/recomputed_shares.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// On one stage of a class; the optimizer's step too, where it is on the GPU.
[[nodiscard]] inline double computingOf(const Workload &workload, const PipelineClass &pipelines,
    const StageCosts &costs, const RecomputedShares &recomputed)
{
    double seconds = 0;
    for (std::size_t c = 0; c < costs.chunks.size(); ++c)
        seconds += (costs.chunks[c].computing()
            + costs.chunks[c].recompute.compute * (c < recomputed.size() ? recomputed[c] : 1.0))
                       .value;
    seconds *= double(pipelines.microBatches) / workload.degrees.copies;
    return seconds + (workload.plan->memory.optimizerOffload == OptimizerOffload::None ? costs.optimizer.value : 0.0);
}

} // namespace trainyard
