// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/cluster/edits.h"
#include "core/facts/cluster/pools_internal.h"

#include <algorithm>

namespace trainyard {

namespace {

using detail::hasIndex, detail::noDatacenter;

std::unexpected<Error> noSuch(const std::string &where, const char *kind, int index, std::size_t size)
{
    return std::unexpected(
        Error { ErrorCode::BadValue, where, std::string("there is no ") + kind + " " + std::to_string(index),
            size == 0 ? std::string("a ") + kind + " that exists; there is none"
                      : "an index from 0 to " + std::to_string(size - 1) });
}

std::unexpected<Error> noPool(const Cluster &cluster, int datacenter, int index)
{
    const auto &pools = cluster.datacenters[static_cast<std::size_t>(datacenter)].pools;
    return noSuch("cluster.datacenters[" + std::to_string(datacenter) + "].pools", "pool", index, pools.size());
}

} // namespace

std::unexpected<Error> detail::noDatacenter(const Cluster &cluster, int index)
{
    return noSuch("cluster.datacenters", "datacenter", index, cluster.datacenters.size());
}

Cluster withDatacenter(const Cluster &cluster, Datacenter added)
{
    Cluster next = cluster;
    added.id = detail::uniqueDatacenterId(cluster, added.id);
    std::vector<Pool> pools = std::move(added.pools);
    added.pools.clear();
    next.datacenters.push_back(std::move(added));
    for (Pool &pool : pools) {
        pool.id = detail::uniquePoolId(next, pool.id);
        next.datacenters.back().pools.push_back(std::move(pool));
    }
    return next;
}

Expected<Cluster> withoutDatacenter(const Cluster &cluster, int datacenter)
{
    if (!hasIndex(cluster.datacenters, datacenter))
        return noDatacenter(cluster, datacenter);
    Cluster next = cluster;
    const std::string id = cluster.datacenters[static_cast<std::size_t>(datacenter)].id;
    next.datacenters.erase(next.datacenters.begin() + datacenter);
    std::erase_if(next.wanLinks, [&](const WanLink &link) { return link.between[0] == id || link.between[1] == id; });
    return next;
}

Expected<Cluster> withPool(const Cluster &cluster, int datacenter, Pool added)
{
    if (!hasIndex(cluster.datacenters, datacenter))
        return noDatacenter(cluster, datacenter);
    if (added.nodes < 1 || added.nodes > detail::kMaxNodes || added.gpusPerNode < 1)
        return std::unexpected(
            Error { ErrorCode::BadValue, "cluster.datacenters[" + std::to_string(datacenter) + "].pools",
                "a pool of " + std::to_string(added.nodes) + " nodes of " + std::to_string(added.gpusPerNode) + " GPUs",
                "at least one node with at least one GPU" });
    Cluster next = cluster;
    Datacenter &home = next.datacenters[static_cast<std::size_t>(datacenter)];
    if (added.id.empty())
        added.id = home.id + "-" + (added.gpu.empty() ? "pool" : added.gpu);
    added.id = detail::uniquePoolId(cluster, added.id);
    home.pools.push_back(std::move(added));
    detail::tidyPools(home);
    return next;
}

Expected<Cluster> withoutPool(const Cluster &cluster, int datacenter, int pool)
{
    if (!hasIndex(cluster.datacenters, datacenter))
        return noDatacenter(cluster, datacenter);
    if (!hasIndex(cluster.datacenters[static_cast<std::size_t>(datacenter)].pools, pool))
        return noPool(cluster, datacenter, pool);
    Cluster next = cluster;
    auto &pools = next.datacenters[static_cast<std::size_t>(datacenter)].pools;
    pools.erase(pools.begin() + pool);
    return next;
}

Expected<Cluster> withWanLink(const Cluster &cluster, WanLink link)
{
    for (const std::string &id : link.between) {
        if (cluster.indexOf(id) < 0)
            return std::unexpected(Error { ErrorCode::UnknownName, "cluster.wan_links", "there is no datacenter " + id,
                "the id of a datacenter" });
    }
    if (link.between[0] == link.between[1])
        return std::unexpected(Error { ErrorCode::BadValue, "cluster.wan_links",
            "a link from " + link.between[0] + " to itself", "two datacenters" });
    Cluster next = cluster;
    if (const int old = cluster.linkBetween(link.between[0], link.between[1]); old >= 0)
        next.wanLinks[static_cast<std::size_t>(old)] = std::move(link);
    else
        next.wanLinks.push_back(std::move(link));
    return next;
}

Expected<Cluster> withoutWanLink(const Cluster &cluster, int link)
{
    if (!hasIndex(cluster.wanLinks, link))
        return noSuch("cluster.wan_links", "link", link, cluster.wanLinks.size());
    Cluster next = cluster;
    next.wanLinks.erase(next.wanLinks.begin() + link);
    return next;
}

} // namespace trainyard
