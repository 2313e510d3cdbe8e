// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/wan_sites.h"

#include "core/cost/layer_cost.h"
#include "core/schedule/chunks.h"
#include "core/schedule/shard_exchange.h"

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

constexpr int kMostOrders = 5040;   // of datacenters: all for 7 of them

class RouteSearch {
public:
    RouteSearch(const Workload &workload, Bytes gradient, bool wholeNodes, int sharing)
        : m_work(workload), m_gradient(gradient), m_wholeNodes(wholeNodes), m_sharing(sharing)
    {
    }

    SiteRoute run(std::vector<ReplicaSite> sites)
    {
        const auto byPlace = [](const ReplicaSite &a, const ReplicaSite &b) { return a.datacenter < b.datacenter; };
        SiteRoute best;
        double shortest = std::numeric_limits<double>::infinity();
        int tries = 0;
        do {
            SiteRoute route = through(sites);
            if (!isWhole(route))
                continue;
            if (const double seconds = secondsOf(route, sites.size()); seconds < shortest) {
                shortest = seconds;
                best = std::move(route);
            }
        } while (++tries < kMostOrders && std::next_permutation(sites.begin(), sites.end(), byPlace));
        return best.hops.empty() ? tree(std::move(sites)) : best;
    }

private:
    void add(SiteRoute &route, const ReplicaSite &from, const ReplicaSite &to) const
    {
        route.hops.push_back(wanPath(m_work, from.seat, to.seat));
        route.nodePairs.push_back(m_wholeNodes ? std::min(from.nodes, to.nodes) : 1);
    }

    static bool isWhole(const SiteRoute &route)
    {
        return std::ranges::none_of(route.hops, [](const WanPath &hop) { return hop.link < 0; });
    }

    [[nodiscard]] SiteRoute through(const std::vector<ReplicaSite> &sites) const
    {
        SiteRoute route;
        for (std::size_t i = 0; i + 1 < sites.size(); ++i)
            add(route, sites[i], sites[i + 1]);
        const WanPath closing = wanPath(m_work, sites.back().seat, sites.front().seat);
        route.isRing = sites.size() == 2 || closing.link >= 0;
        if (route.isRing)
            add(route, sites.back(), sites.front());
        return route;
    }

    /// As if every reduction had an equal share of each link.
    [[nodiscard]] double secondsOf(const SiteRoute &route, std::size_t sites) const
    {
        double slowest = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < route.hops.size(); ++i) {
            const WanLink &link = m_work.plan->cluster.wanLinks[std::size_t(route.hops[i].link)];
            slowest = std::min({slowest, route.nodePairs[i] * route.hops[i].nodePair.value, gbitsPerSecond(link.capacityGbps).value / m_sharing});
        }
        const double passes = route.isRing ? (double(sites) - 1) / double(sites) : 1;
        return 2 * passes * (m_gradient.value / slowest + route.latency().value);
    }

    /// No route passes every datacenter once (a star, say): up and down a tree of direct links.
    [[nodiscard]] SiteRoute tree(std::vector<ReplicaSite> sites) const
    {
        SiteRoute route;
        for (std::size_t joined = 1; joined < sites.size(); ++joined) {
            for (std::size_t next = joined; next < sites.size() && route.hops.size() < joined; ++next) {
                for (std::size_t from = 0; from < joined && route.hops.size() < joined; ++from) {
                    if (wanPath(m_work, sites[from].seat, sites[next].seat).link < 0)
                        continue;
                    add(route, sites[from], sites[next]);
                    std::swap(sites[joined], sites[next]);
                }
            }
        }
        return route;
    }

    const Workload &m_work;
    Bytes m_gradient;
    bool m_wholeNodes;
    int m_sharing;
};

} // namespace

std::vector<ReplicaSite> replicaSites(const Workload &workload, int stage)
{
    const Parallelism &p = workload.plan->parallelism;
    const int mirror = mirrorStage(*workload.plan, stage);
    std::vector<ReplicaSite> sites;
    struct PoolRanks { StageSeat seat; int ranks; };   // classes share the nodes of a pool, so nodes are counted by pool
    std::vector<PoolRanks> pools;
    const auto count = [&](const PipelineClass &c, int holder) {
        const StageSeat seat = c.seats[std::size_t(holder)];
        auto pool = std::ranges::find(pools, seat, &PoolRanks::seat);
        if (pool == pools.end())
            pool = pools.insert(pools.end(), {seat, 0});
        pool->ranks += c.pipelines * p.context;
    };
    for (const PipelineClass &c : workload.layout.classes) {
        count(c, stage);
        if (mirror != stage)
            count(c, mirror);
    }
    for (const PoolRanks &pool : pools) {
        auto site = std::ranges::find(sites, pool.seat.datacenter, &ReplicaSite::datacenter);
        if (site == sites.end())
            site = sites.insert(sites.end(), {pool.seat.datacenter, pool.seat, 0, 0});
        const int perNode = std::max(1, workload.pool(pool.seat).gpusPerNode / p.tensor);
        site->ranks += pool.ranks;
        site->nodes += (pool.ranks + perNode - 1) / perNode;
    }
    std::ranges::sort(sites, {}, &ReplicaSite::datacenter);
    return sites;
}

bool trainsLocally(const Workload &workload)
{
    return workload.plan->wan.localSgd != LocalSgd::None && workload.layout.mode == PlacementMode::DataAcross;
}

bool reducesFlat(const Workload &workload, const std::vector<ReplicaSite> &sites)
{
    const Plan &plan = *workload.plan;
    if (plan.wan.allReduce != WanAllReduce::Flat || sites.size() < 2 || trainsLocally(workload))
        return false;
    return plan.profile || sites.front().ranks <= 1 || shardExchange(plan, workload.stack) == ShardExchange::Once;
}

int shardRanks(const Workload &workload, int stage)
{
    const Plan &plan = *workload.plan;
    const std::vector<ReplicaSite> sites = replicaSites(workload, stage);
    if (sites.size() < 2)
        return workload.layout.data * modelCopies(plan.schedule) * plan.parallelism.context;
    return std::ranges::min(sites, {}, &ReplicaSite::ranks).ranks;
}

Seconds SiteRoute::latency() const
{
    Seconds sum;
    for (const WanPath &hop : hops)
        sum += hop.latency;
    return sum;
}

SiteRoute siteRoute(const Workload &workload, std::vector<ReplicaSite> sites, Bytes gradient, bool wholeNodes, int sharing)
{
    return RouteSearch(workload, gradient, wholeNodes, sharing).run(std::move(sites));
}

} // namespace trainyard
