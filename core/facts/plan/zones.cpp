// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/zones.h"

#include <algorithm>

namespace trainyard {

std::string zoneOf(const Datacenter &datacenter, const ZoneNetwork &network)
{
    return network.knows(datacenter.id)  ? datacenter.id
        : network.knows(datacenter.name) ? datacenter.name
                                         : std::string();
}

std::array<std::string, 2> zonesOf(const Cluster &cluster, const WanLink &link, const ZoneNetwork &network)
{
    std::array<std::string, 2> zones;
    for (std::size_t end = 0; end < 2; ++end) {
        if (const int index = cluster.indexOf(link.between[end]); index >= 0)
            zones[end] = zoneOf(cluster.datacenters[std::size_t(index)], network);
    }
    return zones;
}

const ZoneNetwork *zoneNetworkOf(const Cluster &cluster, const WanLink &link)
{
    const auto found = std::ranges::find_if(builtinZoneNetworks(), [&](const ZoneNetwork &network) {
        const auto zones = zonesOf(cluster, link, network);
        return !zones[0].empty() && !zones[1].empty();
    });
    return found == builtinZoneNetworks().end() ? nullptr : &*found;
}

} // namespace trainyard
