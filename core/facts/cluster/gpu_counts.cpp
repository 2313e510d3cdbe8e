// SPDX-License-Identifier: GPL-3.0-or-later
// Fewer and more GPUs where they are. Equal pools do not merge here: the order of all other GPUs stays.
#include "core/facts/cluster/edits.h"
#include "core/facts/cluster/pools_internal.h"

#include <algorithm>

namespace trainyard {

Cluster withFirstGpus(const Cluster &cluster, int gpus)
{
    Cluster next = cluster;
    int left = std::max(gpus, 0);
    for (std::size_t d = 0; d < cluster.datacenters.size(); ++d) {
        std::vector<Pool> &pools = next.datacenters[d].pools;
        pools.clear();
        for (const Pool &pool : cluster.datacenters[d].pools) {
            const int taken = std::min(left, pool.gpus());
            if (taken < 1)
                continue;
            left -= taken;
            if (const int whole = taken / pool.gpusPerNode; whole > 0) {
                pools.push_back(pool);
                pools.back().nodes = whole;
            }
            if (const int rest = taken % pool.gpusPerNode; rest > 0) {
                const bool isOther = taken > rest; // beside the whole ones
                pools.push_back(pool);
                pools.back().nodes = 1;
                pools.back().gpusPerNode = rest;
                pools.back().id = isOther ? detail::uniquePoolId(cluster, pool.id) : pool.id;
            }
        }
    }
    return next;
}

Expected<Cluster> withOneGpuMore(const Cluster &cluster, int datacenter, int pool)
{
    if (!detail::hasIndex(cluster.datacenters, datacenter))
        return detail::noDatacenter(cluster, datacenter);
    const std::vector<Pool> &pools = cluster.datacenters[static_cast<std::size_t>(datacenter)].pools;
    if (!detail::hasIndex(pools, pool) || pools[static_cast<std::size_t>(pool)].nodes < 1)
        return std::unexpected(
            Error { ErrorCode::BadValue, "cluster.datacenters[" + std::to_string(datacenter) + "].pools",
                "pool " + std::to_string(pool) + " does not exist or has no nodes", "a pool with nodes" });
    Cluster next = cluster;
    std::vector<Pool> &changed = next.datacenters[static_cast<std::size_t>(datacenter)].pools;
    const auto at = changed.begin() + pool;
    if (at->nodes == 1) {
        ++at->gpusPerNode;
        return next;
    }
    Pool last = *at;
    --at->nodes;
    last.nodes = 1;
    ++last.gpusPerNode;
    last.id = detail::uniquePoolId(cluster, last.id);
    changed.insert(at + 1, std::move(last));
    return next;
}

} // namespace trainyard
