// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/cluster/pools_internal.h"

#include <algorithm>

namespace trainyard::detail {

namespace {

/// `wanted`, or its stem with the first number from 2 that is free: "h100", "h100-2", "h100-3".
template <class Taken> std::string firstFree(const std::string &wanted, Taken isTaken)
{
    if (!isTaken(wanted))
        return wanted;
    std::string stem = wanted;
    const auto dash = stem.rfind('-');
    const bool isNumbered = dash != std::string::npos && dash > 0 && dash + 1 < stem.size() && stem.size() - dash <= 4
        && stem.find_first_not_of("0123456789", dash + 1) == std::string::npos;
    if (isNumbered)
        stem.resize(dash);
    for (int n = 2;; ++n) {
        if (std::string candidate = stem + "-" + std::to_string(n); !isTaken(candidate))
            return candidate;
    }
}

} // namespace

std::string uniqueDatacenterId(const Cluster &cluster, const std::string &wanted)
{
    return firstFree(
        wanted.empty() ? "datacenter" : wanted, [&](const std::string &id) { return cluster.indexOf(id) >= 0; });
}

std::string uniquePoolId(const Cluster &cluster, const std::string &wanted)
{
    const auto isTaken = [&](const std::string &id) {
        return std::ranges::any_of(cluster.datacenters, [&](const Datacenter &datacenter) {
            return std::ranges::find(datacenter.pools, id, &Pool::id) != datacenter.pools.end();
        });
    };
    return firstFree(wanted.empty() ? "pool" : wanted, isTaken);
}

bool canMerge(const Pool &a, const Pool &b)
{
    Pool like = b;
    like.id = a.id;
    like.nodes = a.nodes;
    return a == like;
}

void tidyPools(Datacenter &datacenter)
{
    std::vector<Pool> tidy;
    for (Pool &pool : datacenter.pools) {
        if (pool.gpus() <= 0)
            continue;
        const auto equal = std::ranges::find_if(
            tidy, [&](const Pool &other) { return canMerge(other, pool) && other.nodes <= kMaxNodes - pool.nodes; });
        if (equal != tidy.end())
            equal->nodes += pool.nodes;
        else
            tidy.push_back(std::move(pool));
    }
    datacenter.pools = std::move(tidy);
}

} // namespace trainyard::detail
