// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/ranks.h"

#include <algorithm>

namespace trainyard {

int domainOf(const Requested &asked, StageLocation location)
{
    const GpuSpec &gpu = asked.gpu(location);
    return std::max(asked.pool(location).gpusPerNode, gpu.linkDomain > 8 && gpu.linkGBps > 0 ? gpu.linkDomain : 0);
}

namespace {

/// First GPU in its pool of one pipeline's stage, and how many it has; negative where the layout does not say.
struct Position {
    int first = -1, gpus = 0;
};

Position positionOf(const Layout &layout, int stage, int pipeline)
{
    for (const GpuRun &run : layout.runs) {
        if (run.stage != stage || pipeline < run.firstPipeline || pipeline >= run.firstPipeline + run.pipelines)
            continue;
        const int each = run.gpus / run.pipelines;
        return { run.firstGpu + (pipeline - run.firstPipeline) * each, each };
    }
    return {};
}

/// Whether every pipeline of the class has both stages on GPUs that reach each other without the fabric; else the
/// slowest crosses it. Pipelines repeat their places after one domain of GPUs.
bool staysInDomain(const Layout &layout, const PipelineClass &pipelines, int from, int to, int domain)
{
    for (int i = 0; i < std::min(pipelines.pipelines, domain); ++i) {
        const Position a = positionOf(layout, from, pipelines.firstPipeline + i),
                       b = positionOf(layout, to, pipelines.firstPipeline + i);
        if (a.first < 0 || b.first < 0 || a.first / domain != (a.first + a.gpus - 1) / domain
            || a.first / domain != b.first / domain || b.first / domain != (b.first + b.gpus - 1) / domain)
            return false;
    }
    return true;
}

/// Counts the replicas of the stage in the set's datacenter: the group that reduces without the WAN.
void addReplicasHere(RankSet &ranks, const Workload &workload)
{
    const int mirror = workload.degrees.mirrorOf(ranks.stage), own = ranks.degrees.tensor;
    const auto count = [&](const PipelineClass &other, int holder) {
        const StageLocation there = other.locations[std::size_t(holder)];
        if (there.datacenter != ranks.at.datacenter)
            return;
        ranks.replicasHere += other.pipelines;
        const int tensor = workload.tensorAt(there);
        ranks.leastTensor = std::min(ranks.leastTensor, tensor);
        if (tensor != own) // as if its groups were as large: what counts is how many there are side by side
            ranks.reduceDomain = std::min(ranks.reduceDomain, std::max(1, domainOf(workload, there) / tensor) * own);
        else if (there.pool != ranks.at.pool)
            ranks.reduceDomain = std::min(ranks.reduceDomain, domainOf(workload, there));
    };
    for (const PipelineClass &other : workload.layout.classes) {
        count(other, ranks.stage);
        if (mirror != ranks.stage)
            count(other, mirror);
    }
}

} // namespace

Levels RankSet::levels(GroupKind kind) const
{
    const auto inside = [](int ofDomain, int ranks, int stride) {
        return Levels { ranks, std::clamp(ofDomain / std::max(1, stride), 1, std::max(1, ranks)) };
    };
    const auto group = [&](int ranks, int stride) { return inside(domain, ranks, stride); };
    const Degrees &d = degrees;
    switch (kind) {
    case GroupKind::Tensor:
        return group(d.tensor, 1);
    case GroupKind::Context:
        return group(d.context, d.tensor);
    case GroupKind::Expert:
        return { experts.ranks, experts.together };
    case GroupKind::ExpertTensor:
        return group(d.expertTensor, 1);
    case GroupKind::Data:
        return inside(reduceDomain, replicasHere * d.context, d.tensor);
    case GroupKind::ExpertData: // the ranks of all replicas hold each expert once for every group of experts, that far
                                // apart
        return inside(reduceDomain, std::max(1, replicasHere * d.gpusOfStage() / d.expertRanks()), d.expertRanks());
    }
    return {};
}

Degrees RankSet::ofLargestShard() const
{
    Degrees largest = degrees;
    largest.tensor = leastTensor > 0 ? leastTensor : degrees.tensor;
    return largest;
}

RankSet rankSet(const Workload &workload, const PipelineClass &pipelines, int stage)
{
    const StageLocation at = pipelines.locations[std::size_t(stage)];
    const int domain = domainOf(workload, at);
    RankSet ranks { at, stage, 0, domain, domain,
        pipelines.microBatch > 0 ? pipelines.microBatch : workload.plan->workload.microBatch, workload.degreesAt(at),
        pipelines.stateShare };
    ranks.leastTensor = ranks.degrees.tensor;
    addReplicasHere(ranks, workload);
    ranks.experts = expertSpread(workload, pipelines, stage);
    return ranks;
}

std::vector<const PipelineClass *> unlikeClasses(const Workload &workload, int stage)
{
    std::vector<const PipelineClass *> kinds;
    for (const PipelineClass &next : workload.layout.classes) {
        const auto isLike = [&](const PipelineClass *known) { return areAlike(workload, *known, next, stage); };
        if (std::ranges::none_of(kinds, isLike))
            kinds.push_back(&next);
    }
    return kinds;
}

std::vector<RankSet> unlikeSets(const Workload &workload, int stage)
{
    std::vector<RankSet> sets;
    for (const PipelineClass *kind : unlikeClasses(workload, stage))
        sets.push_back(rankSet(workload, *kind, stage));
    return sets;
}

bool areAlike(const Workload &workload, const PipelineClass &a, const PipelineClass &b, int stage)
{
    return a.microBatch == b.microBatch && a.stateShare == b.stateShare
        && areAlike(workload, a.locations[std::size_t(stage)], b.locations[std::size_t(stage)]);
}

bool areAsLarge(const StageChunk &a, const StageChunk &b)
{
    return a.layers == b.layers && a.expertLayers == b.expertLayers && a.hasEmbedding == b.hasEmbedding
        && a.hasHead == b.hasHead;
}

bool isLikeStageBefore(const Workload &workload, int stage)
{
    if (stage == 0 || !workload.source.hasLayers || workload.plan->memory.recomputeLayers
        || workload.degrees.copies > 1)
        return false;
    const auto here = std::size_t(stage);
    const auto isInPlace = [&](const PipelineClass &c) { return c.locations[here] == c.locations[here - 1]; };
    return std::ranges::equal(workload.layout.chunks[here], workload.layout.chunks[here - 1], areAsLarge)
        && std::ranges::all_of(workload.layout.classes, isInPlace);
}

bool areAlike(const Requested &asked, StageLocation a, StageLocation b)
{
    if (a == b)
        return true;
    const Pool &x = asked.pool(a), &y = asked.pool(b);
    return asked.tensorAt(a) == asked.tensorAt(b) && &asked.gpu(a) == &asked.gpu(b) && x.gpusPerNode == y.gpusPerNode
        && x.host == y.host && x.ssd == y.ssd;
}

Levels tensorLevels(const Workload &workload)
{
    Levels levels { workload.degrees.tensor, workload.degrees.tensor };
    for (const GpuRun &run : workload.layout.runs) {
        const int tensor = workload.tensorAt(run.location()),
                  together = std::min(tensor, domainOf(workload, run.location()));
        if (double(together) / tensor < double(levels.together) / levels.ranks)
            levels = { tensor, together };
    }
    return levels;
}

std::vector<ReplicaSite> replicaSites(const Workload &workload, int stage)
{
    const Degrees &d = workload.degrees;
    const int mirror = d.mirrorOf(stage);
    std::vector<ReplicaSite> sites;
    struct PoolRanks {
        StageLocation location;
        int ranks;
    }; // classes share the nodes of a pool, so nodes are counted by pool
    std::vector<PoolRanks> pools;
    const auto count = [&](const PipelineClass &c, int holder) {
        const StageLocation location = c.locations[std::size_t(holder)];
        auto pool = std::ranges::find(pools, location, &PoolRanks::location);
        if (pool == pools.end())
            pool = pools.insert(pools.end(), { location, 0 });
        pool->ranks += c.pipelines * d.context;
    };
    for (const PipelineClass &c : workload.layout.classes) {
        count(c, stage);
        if (mirror != stage)
            count(c, mirror);
    }
    for (const PoolRanks &pool : pools) {
        auto site = std::ranges::find(sites, pool.location.datacenter, &ReplicaSite::datacenter);
        if (site == sites.end())
            site = sites.insert(sites.end(), { pool.location.datacenter, pool.location, 0, 0 });
        const int gpus = workload.pool(pool.location).gpusPerNode, tensor = workload.tensorAt(pool.location),
                  perNode = std::max(1, gpus / tensor);
        site->ranks += pool.ranks;
        site->nodes += (pool.ranks + perNode - 1) / perNode * std::max(1, tensor / gpus);
    }
    std::ranges::sort(sites, {}, &ReplicaSite::datacenter);
    return sites;
}

int stateShards(const Workload &workload, int stage)
{
    const std::vector<ReplicaSite> sites = replicaSites(workload, stage);
    if (sites.size() < 2)
        return workload.layout.data * workload.degrees.copies * workload.degrees.context;
    return std::ranges::min(sites, {}, &ReplicaSite::ranks).ranks;
}

double stateShards(const Workload &workload, const RankSet &ranks)
{
    return ranks.stateShare > 0 ? 1 / ranks.stateShare : stateShards(workload, ranks.stage);
}

Reach reachBetween(const Workload &workload, const PipelineClass &pipelines, int from, int to)
{
    const StageLocation a = pipelines.locations[std::size_t(from)], b = pipelines.locations[std::size_t(to)];
    if (a.datacenter != b.datacenter)
        return Reach::Wan;
    return a == b && staysInDomain(workload.layout, pipelines, from, to, domainOf(workload, a)) ? Reach::Node
                                                                                                : Reach::Fabric;
}

double groupsPerNode(const Workload &workload, StageLocation location)
{
    const int gpus = workload.pool(location).gpusPerNode, tensor = workload.tensorAt(location);
    return gpus < tensor ? double(gpus) / tensor
                         : std::min(gpus / tensor, workload.layout.data * workload.degrees.context);
}

int pipelinesPerNode(const Workload &workload, StageLocation location)
{
    return std::max(1, int(groupsPerNode(workload, location)) / workload.degrees.context);
}

bool trainsLocally(const Workload &workload)
{
    return workload.plan->wan.localSgd != LocalSgd::None && workload.layout.mode == PlacementMode::DataAcross;
}

int communicators(const Workload &workload)
{
    const Degrees &p = workload.degrees;
    return 1 + (p.tensor > 1) + (p.pipeline > 1) + (workload.layout.data * p.context > 1) + (p.context > 1)
        + (p.expert > 1);
}

} // namespace trainyard
