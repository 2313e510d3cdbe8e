#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Small plans on unequal GPUs.

#include "tests/support/plans.h"

namespace trainyard::test {

inline Pool pool(const std::string &id, const std::string &gpu, int nodes, int gpusPerNode = 8)
{
    Pool pool;
    pool.id = id;
    pool.gpu = gpu;
    pool.nodes = nodes;
    pool.gpusPerNode = gpusPerNode;
    return pool;
}

/// A replica of GPT-3 1.3B on each of 4 H100 and 4 A100 in one datacenter, 64 micro-batches of one sequence.
inline Plan mixedReplicas()
{
    Plan plan;
    plan.cluster.datacenters = { site("a", 1) };
    plan.cluster.datacenters.front().pools = { pool("fast", "h100-sxm-80gb", 1, 4),
        pool("slow", "a100-sxm-80gb", 1, 4) };
    plan.workload.model = "gpt-3-1.3b";
    plan.workload.globalBatch = 64;
    return plan;
}

/// The same GPUs as four pipelines of two stages, the first on H100, the second on A100.
inline Plan mixedStages()
{
    Plan plan = mixedReplicas();
    plan.parallelism.pipeline = 2;
    return plan;
}

inline Plan balanced(Plan plan)
{
    plan.heterogeneity.compute = ComputeSharing::Balanced;
    return plan;
}

} // namespace trainyard::test
