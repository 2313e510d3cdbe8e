// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/plan.h"

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

int clampedToInt(std::int64_t value)
{
    return static_cast<int>(std::min<std::int64_t>(value, std::numeric_limits<int>::max()));
}

} // namespace

int Datacenter::gpus() const
{
    std::int64_t sum = 0;
    for (const Pool &pool : pools)
        sum += std::int64_t { pool.nodes } * pool.gpusPerNode;
    return clampedToInt(sum);
}

int Cluster::gpus() const
{
    std::int64_t sum = 0;
    for (const Datacenter &datacenter : datacenters)
        sum += datacenter.gpus();
    return clampedToInt(sum);
}

int Cluster::indexOf(std::string_view datacenterId) const
{
    const auto found = std::ranges::find(datacenters, datacenterId, &Datacenter::id);
    return found == datacenters.end() ? -1 : static_cast<int>(found - datacenters.begin());
}

int Cluster::linkBetween(std::string_view a, std::string_view b) const
{
    const auto joins = [&](const WanLink &link) {
        return (link.between[0] == a && link.between[1] == b) || (link.between[0] == b && link.between[1] == a);
    };
    const auto found = std::ranges::find_if(wanLinks, joins);
    return found == wanLinks.end() ? -1 : static_cast<int>(found - wanLinks.begin());
}

} // namespace trainyard
