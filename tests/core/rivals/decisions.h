#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Our search with the decisions that Sailor, AMP, Metis and FlashFlex make too: degrees, micro-batch, stages and
// layers, which GPUs. All else stays as the plan has it, so that nobody wins by a schedule that the others do not know.

#include "core/rivals/rivals.h"
#include "core/search/search.h"

namespace trainyard::test {

inline SearchOptions sailorsDecisions(const Plan &plan, const RivalWishes &wishes)
{
    SearchOptions options;
    options.fixed = { "schedule", "memory", "wan", "stack", "heterogeneity.state", "heterogeneity.accumulation",
        "parallelism.context", "parallelism.virtual_pipeline", "parallelism.zero_stage",
        "parallelism.sequence_parallel" };
    options.constraints.memoryMargin = 0; // nor do they leave any
    options.top = 3;
    const double tokens = double(plan.workload.globalBatch) * plan.workload.sequenceLength;
    if (wishes.wantsCheap)
        options.objective = Objective::Cost;
    if (wishes.mostSeconds)
        options.constraints.leastTokensPerSecond = tokens / *wishes.mostSeconds;
    return options;
}

} // namespace trainyard::test
