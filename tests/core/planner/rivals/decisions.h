#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Our search with the decisions that Sailor, AMP, Metis and FlashFlex make too: degrees, micro-batch, stages and
// layers, which GPUs. All else stays as the plan has it, so that nobody wins by a schedule that the others do not know.
// And what an iteration costs, worked out apart from what the search and the rules go by.

#include "core/facts/cluster/wan.h"
#include "core/iteration/cost/gpu_price.h"
#include "core/iteration/placement/resolve.h"
#include "core/planner/rivals/rivals.h"
#include "core/planner/search/search.h"

namespace trainyard::test {

/// USD of an iteration for the GPUs that are used (by price, else by energy) and for egress. Of an evaluation with a
/// time.
inline double usedUsd(const Evaluation &evaluation, const Catalogue &catalogue)
{
    const auto workload = resolve(evaluation.plan, catalogue);
    if (!workload || !evaluation.metrics.iterationTime)
        return 0;
    double perHour = 0, egress = 0;
    for (const GpuRun &run : evaluation.layout.runs)
        perHour += run.gpus
            * usdPerGpuHour(*workload, { run.datacenter, run.pool }, evaluation.metrics.gpuUtilization.value_or(0));
    for (const WanLinkUse &use : evaluation.metrics.wanLinks) {
        const auto price = egressUsdPerGb(*evaluation.plan, catalogue, use.link);
        egress += (use.bytes[0] * price[0] + use.bytes[1] * price[1]) / 1e9;
    }
    return perHour * *evaluation.metrics.iterationTime / 3600 + egress;
}

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
    if (wishes.mostUsd)
        options.constraints.mostUsdPerMillionTokens = *wishes.mostUsd / tokens * 1e6;
    if (wishes.mostSeconds)
        options.constraints.leastTokensPerSecond = tokens / *wishes.mostSeconds;
    return options;
}

} // namespace trainyard::test
