// SPDX-License-Identifier: GPL-3.0-or-later
// In which order nodes have to be named, so that each rank computes what the plan has there. Megatron-LM and torchtitan
// number ranks alike: tensor group first, then context, then replicas, and stages last.
#include "core/facts/cluster/pool_gpu.h"
#include "core/runs/launch/launch_internal.h"

#include <algorithm>
#include <numeric>

namespace trainyard::launch {

namespace {

struct GpuShare {
    int datacenter = 0, pool = 0;
    std::int64_t gpus = 0;
};

std::vector<GpuShare> sharesOf(const Draft &draft)
{
    const Parallelism &p = draft.plan.parallelism;
    std::vector<GpuShare> shares;
    for (int stage = 0; stage < p.pipeline; ++stage)
        for (const PipelineClass &one : draft.evaluation.layout.classes) {
            if (static_cast<std::size_t>(stage) >= one.locations.size())
                continue;
            const StageLocation &at = one.locations[static_cast<std::size_t>(stage)];
            const std::int64_t gpus = std::int64_t(one.pipelines) * p.tensor * p.context;
            if (!shares.empty() && shares.back().datacenter == at.datacenter && shares.back().pool == at.pool)
                shares.back().gpus += gpus;
            else
                shares.push_back({ at.datacenter, at.pool, gpus });
        }
    return shares;
}

} // namespace

void orderNodes(Draft &draft)
{
    const Cluster &cluster = draft.plan.cluster;
    const auto poolOf = [&](const GpuShare &share) -> const Pool & {
        return cluster.datacenters[static_cast<std::size_t>(share.datacenter)]
            .pools[static_cast<std::size_t>(share.pool)];
    };
    const std::vector<GpuShare> shares = sharesOf(draft);
    if (shares.empty())
        return draft.refuse("placement", "nothing is placed", "a plan that can be placed");
    for (const PipelineClass &one : draft.evaluation.layout.classes)
        for (const StageLocation &at : one.locations)
            if (at.tensor != 0 && at.tensor != draft.plan.parallelism.tensor)
                return draft.refuse("heterogeneity.assign",
                    std::string(draft.name) + " has one tensor-parallel degree for all ranks",
                    std::to_string(draft.plan.parallelism.tensor));
    int &each = draft.nodes.gpusPerNode;
    std::string kinds;
    std::vector<const Pool *> pools;
    for (const GpuShare &share : shares) {
        const Pool &pool = poolOf(share);
        if (std::ranges::find(pools, &pool) != pools.end())
            continue;
        if (!pools.empty() && pool.gpusPerNode != pools.front()->gpusPerNode)
            return draft.refuse("cluster.datacenters[" + std::to_string(share.datacenter) + "].pools["
                    + std::to_string(share.pool) + "].gpus_per_node",
                "nodes of " + std::to_string(pools.front()->gpusPerNode) + " and of " + std::to_string(pool.gpusPerNode)
                    + " GPUs in one run, and torchrun starts as many processes on each",
                "as many GPUs in every node");
        const std::string gpu = gpuNameOf(pool);
        kinds += kinds.find(gpu) == std::string::npos ? (kinds.empty() ? "" : " and ") + gpu : std::string();
        pools.push_back(&pool);
    }
    if (kinds.find(" and ") != std::string::npos)
        draft.note("GPUs are of several kinds (" + kinds + "): " + draft.name
            + " deals work evenly, so the slowest sets the pace");
    each = pools.front()->gpusPerNode;
    for (const GpuShare &share : shares) // a replica that leaves some GPUs of its nodes idle
        each = static_cast<int>(std::gcd<std::int64_t>(each, share.gpus));
    if (each < pools.front()->gpusPerNode && shares.size() > 1)
        return draft.refuse("placement",
            "parts of a stage share a node with those of another pool or datacenter, which no order of nodes gives",
            "stages and replicas that fill nodes of " + std::to_string(pools.front()->gpusPerNode) + " GPUs");
    if (each < pools.front()->gpusPerNode)
        draft.note("Only " + std::to_string(each) + " of the " + std::to_string(pools.front()->gpusPerNode)
            + " GPUs of a node are started");
    for (const GpuShare &share : shares) {
        draft.nodes.runs.push_back({ share.datacenter, share.pool, static_cast<int>(share.gpus / each) });
        draft.nodes.count += draft.nodes.runs.back().nodes;
    }
}

} // namespace trainyard::launch
