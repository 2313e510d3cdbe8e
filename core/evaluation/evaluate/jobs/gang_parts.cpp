// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/jobs/gang_parts.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace trainyard {

namespace {

std::size_t index(int value)
{
    return std::size_t(value);
}

/// Of each node that has some of the GPUs, those.
std::map<int, GpuList> byNode(const JobWorkloads &jobs, const GpuList &gpus)
{
    std::map<int, GpuList> nodes;
    for (const int gpu : gpus)
        nodes[jobs.set.gpus[index(gpu)].node].push_back(gpu);
    return nodes;
}

const Pool &poolOf(const JobWorkloads &jobs, const StageLocation &at)
{
    return jobs.plan->cluster.datacenters[index(at.datacenter)].pools[index(at.pool)];
}

} // namespace

ClusterPart clusterPart(const JobWorkloads &jobs, const GpuList &gpus)
{
    ClusterPart part;
    const int datacenter = jobs.gpus[index(gpus.front())].datacenter;
    Datacenter own = jobs.plan->cluster.datacenters[index(datacenter)];
    own.pools.clear();
    std::map<std::pair<int, std::size_t>, std::size_t> pools; // of a pool, nodes of so many GPUs
    for (const auto &[node, there] : byNode(jobs, gpus)) {
        const StageLocation at = jobs.gpus[index(there.front())];
        const auto [pool, isNew] = pools.try_emplace({ at.pool, there.size() }, own.pools.size());
        if (isNew) {
            own.pools.push_back(poolOf(jobs, at));
            own.pools.back().id.clear();
            own.pools.back().nodes = 0;
            own.pools.back().gpusPerNode = int(there.size());
            part.gpus.emplace_back();
        }
        ++own.pools[pool->second].nodes;
        GpuList &list = part.gpus[pool->second];
        list.insert(list.end(), there.begin(), there.end());
    }
    part.cluster.datacenters.push_back(std::move(own));
    return part;
}

GpuList allowedGpus(const JobWorkloads &jobs, const Job &job)
{
    GpuList gpus = job.pinnedGpus;
    if (gpus.empty()) {
        gpus.resize(jobs.gpus.size());
        for (std::size_t g = 0; g < gpus.size(); ++g)
            gpus[g] = int(g);
    }
    std::erase_if(gpus, [&](int g) { return g < 0 || index(g) >= jobs.gpus.size(); });
    std::ranges::sort(gpus);
    return gpus;
}

std::vector<GpuList> gpuLists(const JobWorkloads &jobs, const Job &job)
{
    std::map<int, GpuList> all; // [datacenter]
    std::map<std::pair<int, int>, GpuList> ofPool;
    for (const int gpu : allowedGpus(jobs, job)) {
        const StageLocation at = jobs.gpus[index(gpu)];
        all[at.datacenter].push_back(gpu);
        ofPool[{ at.datacenter, at.pool }].push_back(gpu);
    }
    std::vector<GpuList> lists;
    std::set<std::pair<int, std::size_t>> known; // first and number: lists of both alike are alike here
    const auto add = [&](GpuList list) {
        if (!list.empty() && lists.size() < kMostGpuLists && known.emplace(list.front(), list.size()).second)
            lists.push_back(std::move(list));
    };
    for (const auto &[pool, gpus] : ofPool) {
        GpuList fullest;
        for (auto &[node, there] : byNode(jobs, gpus))
            if (there.size() > fullest.size())
                fullest = std::move(there);
        add(std::move(fullest));
    }
    for (auto &[pool, gpus] : ofPool)
        add(std::move(gpus));
    for (auto &[datacenter, gpus] : all)
        add(std::move(gpus));
    return lists;
}

std::vector<GangPlace> placesOn(const Layout &layout, const ClusterPart &part, const GpuList &gpus, int context)
{
    std::map<int, GangPlace> places;
    for (const GpuRun &run : layout.runs) {
        const int ofPipeline = std::max(1, run.tensor) * std::max(1, context);
        const GpuList &pool = part.gpus[index(run.pool)];
        for (int i = 0; i < run.gpus && index(run.firstGpu + i) < pool.size(); ++i) {
            const int pipeline = run.firstPipeline + i / ofPipeline;
            const auto of = std::ranges::find_if(layout.classes, [&](const PipelineClass &c) {
                return pipeline >= c.firstPipeline && pipeline < c.firstPipeline + c.pipelines;
            });
            if (of != layout.classes.end())
                places[pool[index(run.firstGpu + i)]] = { int(of - layout.classes.begin()), run.stage };
        }
    }
    std::vector<GangPlace> found;
    for (const int gpu : gpus)
        found.push_back(places[gpu]);
    return found;
}

} // namespace trainyard
