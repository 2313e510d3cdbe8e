// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/cluster/edits.h"
#include "core/facts/cluster/pools_internal.h"

#include <algorithm>

namespace trainyard {

namespace {

/// What a cut through a pool leaves: some whole nodes, and nodes of which only a part is left.
struct Cut {
    int nodes = 0;
    std::vector<int> parts; // GPUs of each partial node
};

/// GPUs [first, end) of a pool by node; the same for what stays.
void cut(const Pool &pool, int first, int end, Cut &moves, Cut &stays)
{
    const int size = pool.gpusPerNode;
    const auto add = [size](Cut &to, int gpus) {
        if (gpus == size)
            ++to.nodes;
        else if (gpus > 0)
            to.parts.push_back(gpus);
    };
    const int firstWhole = (first + size - 1) / size;
    const int lastWhole = end / size;
    if (firstWhole <= lastWhole) { // the nodes between the ends move whole, without a loop over them
        moves.nodes += lastWhole - firstWhole;
        add(moves, firstWhole * size - first);
        add(moves, end - lastWhole * size);
    } else {
        add(moves, end - first); // inside one node
    }
    const int touchedFrom = first / size;
    const int touchedTo = (end + size - 1) / size;
    stays.nodes += touchedFrom + (pool.nodes - touchedTo);
    if (touchedTo - touchedFrom == 1) {
        add(stays, size - (end - first));
    } else {
        add(stays, first - touchedFrom * size);
        add(stays, touchedTo * size - end);
    }
}

Pool part(const Pool &pool, int nodes, int gpusPerNode)
{
    Pool next = pool;
    next.nodes = nodes;
    next.gpusPerNode = gpusPerNode;
    return next;
}

/// Puts the pieces of a pool into a datacenter, from index `at` on. Where `keepsId`, the first keeps the pool's id.
void place(Cluster &cluster, Datacenter &to, std::size_t at, const Pool &source, const Cut &cut,
    const std::string &stem, bool keepsId)
{
    const auto insert = [&](int nodes, int gpusPerNode) {
        Pool next = part(source, nodes, gpusPerNode);
        const auto equal =
            std::ranges::find_if(to.pools, [&](const Pool &pool) { return detail::canMerge(pool, next); });
        if (equal != to.pools.end() && equal->nodes <= detail::kMaxNodes - nodes) {
            equal->nodes += nodes;
            return;
        }
        if (!keepsId)
            next.id = detail::uniquePoolId(cluster, stem);
        keepsId = false;
        to.pools.insert(
            to.pools.begin() + static_cast<std::ptrdiff_t>(std::min(at++, to.pools.size())), std::move(next));
    };
    if (cut.nodes > 0)
        insert(cut.nodes, source.gpusPerNode);
    for (const int gpus : cut.parts)
        insert(1, gpus);
}

struct Take {
    int pool = 0, gpus = 0;
};

/// The largest nodes that are wanted whole; where no node is that small, a part of the smallest. Last pools first.
Take nextToTake(const std::vector<Pool> &pools, int gpus)
{
    int whole = -1, broken = -1;
    for (int i = 0; i < static_cast<int>(pools.size()); ++i) {
        const Pool &pool = pools[static_cast<std::size_t>(i)];
        if (pool.gpus() <= 0)
            continue;
        const auto size = [&](int other) { return pools[static_cast<std::size_t>(other)].gpusPerNode; };
        if (pool.gpusPerNode <= gpus && (whole < 0 || pool.gpusPerNode >= size(whole)))
            whole = i;
        if (pool.gpusPerNode > gpus && (broken < 0 || pool.gpusPerNode <= size(broken)))
            broken = i;
    }
    if (whole < 0)
        return { broken, gpus };
    const Pool &pool = pools[static_cast<std::size_t>(whole)];
    return { whole, std::min(gpus / pool.gpusPerNode, pool.nodes) * pool.gpusPerNode };
}

/// The id of a pool that came to a datacenter: "virginia-h100" in Oregon is "oregon-h100".
std::string stemFor(const Datacenter &from, const Datacenter &to, const std::string &poolId)
{
    if (!from.id.empty() && poolId.starts_with(from.id + "-"))
        return to.id + poolId.substr(from.id.size());
    return poolId;
}

} // namespace

Expected<Cluster> moveGpus(const Cluster &cluster, const GpuSelection &what, int toDatacenter)
{
    for (const int datacenter : { what.datacenter, toDatacenter }) {
        if (!detail::hasIndex(cluster.datacenters, datacenter))
            return detail::noDatacenter(cluster, datacenter);
    }
    const Datacenter &from = cluster.datacenters[static_cast<std::size_t>(what.datacenter)];
    const std::string where = "cluster.datacenters[" + std::to_string(what.datacenter) + "].pools";
    if (!detail::hasIndex(from.pools, what.pool))
        return std::unexpected(
            Error { ErrorCode::BadValue, where, from.label() + " has no pool " + std::to_string(what.pool),
                "one of its " + std::to_string(from.pools.size()) + " pools" });
    const Pool pool = from.pools[static_cast<std::size_t>(what.pool)];
    if (what.firstGpu < 0 || what.gpus < 0 || what.firstGpu > pool.gpus() - what.gpus)
        return std::unexpected(Error { ErrorCode::BadValue, where + "[" + std::to_string(what.pool) + "]",
            "GPUs " + std::to_string(what.firstGpu) + " to "
                + std::to_string(std::int64_t { what.firstGpu } + what.gpus - 1) + " are not in the pool",
            "GPUs 0 to " + std::to_string(pool.gpus() - 1) });
    Cluster next = cluster;
    if (what.datacenter == toDatacenter || what.gpus == 0)
        return next;

    Cut moves, stays;
    cut(pool, what.firstGpu, what.firstGpu + what.gpus, moves, stays);
    Datacenter &source = next.datacenters[static_cast<std::size_t>(what.datacenter)];
    Datacenter &target = next.datacenters[static_cast<std::size_t>(toDatacenter)];
    const auto at = static_cast<std::size_t>(what.pool);
    source.pools.erase(source.pools.begin() + what.pool);
    place(next, source, at, pool, stays, pool.id, true);
    place(next, target, target.pools.size(), pool, moves, stemFor(source, target, pool.id), false);
    return next;
}

Expected<Cluster> moveGpus(const Cluster &cluster, int fromDatacenter, int gpus, int toDatacenter)
{
    for (const int datacenter : { fromDatacenter, toDatacenter }) {
        if (!detail::hasIndex(cluster.datacenters, datacenter))
            return detail::noDatacenter(cluster, datacenter);
    }
    const Datacenter &from = cluster.datacenters[static_cast<std::size_t>(fromDatacenter)];
    if (gpus < 0 || gpus > from.gpus())
        return std::unexpected(
            Error { ErrorCode::BadValue, "cluster.datacenters[" + std::to_string(fromDatacenter) + "]",
                from.label() + " has " + std::to_string(from.gpus()) + " GPUs, not " + std::to_string(gpus),
                "at most " + std::to_string(from.gpus()) });
    Cluster next = cluster;
    if (fromDatacenter == toDatacenter)
        return next;
    while (gpus > 0) {
        const auto [pool, taken] = nextToTake(next.datacenters[static_cast<std::size_t>(fromDatacenter)].pools, gpus);
        const int first =
            next.datacenters[static_cast<std::size_t>(fromDatacenter)].pools[static_cast<std::size_t>(pool)].gpus()
            - taken;
        auto moved = moveGpus(next, GpuSelection { fromDatacenter, pool, first, taken }, toDatacenter);
        if (!moved)
            return moved;
        next = std::move(*moved);
        gpus -= taken;
    }
    return next;
}

} // namespace trainyard
