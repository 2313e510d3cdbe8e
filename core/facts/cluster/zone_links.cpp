// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/cluster/zone_links.h"

#include "core/facts/cluster/pool_gpu.h"

namespace trainyard {

namespace {

/// Every kind of machine at either end; empty where one of them is none of the network's.
std::vector<const ZoneMachine *> machinesAt(const ZoneNetwork &network, const Cluster &cluster, const WanLink &link)
{
    std::vector<const ZoneMachine *> machines;
    for (const std::string &end : link.between) {
        for (const Pool &pool : cluster.datacenters[std::size_t(cluster.indexOf(end))].pools) {
            if (pool.nodes <= 0)
                continue;
            const ZoneMachine *machine = network.machine(gpuIdOf(pool), pool.gpusPerNode);
            if (!machine)
                return {};
            machines.push_back(machine);
        }
    }
    return machines;
}

} // namespace

std::optional<ZonePairRate> zonePairRate(const Cluster &cluster, const WanLink &link, Bytes message)
{
    const ZoneNetwork *network = link.cloud.empty() ? nullptr : builtinZoneNetwork(link.cloud);
    if (!network)
        return std::nullopt;
    const std::array<std::string, 2> zones = zonesOf(cluster, link, *network);
    if (zones[0].empty() || zones[1].empty())
        return std::nullopt;
    ZonePairRate pair { network, nullptr, message, {} };
    for (const ZoneMachine *machine : machinesAt(*network, cluster, link)) {
        for (const std::size_t from : { 0U, 1U }) {
            const ZoneLink *measured = network->link(zones[from], zones[1 - from], machine->id);
            if (!measured)
                return std::nullopt;
            const BytesPerSecond rate = bandwidth(measured->curve, message);
            if (!pair.slowest || rate < pair.rate) {
                pair.slowest = measured;
                pair.rate = rate;
            }
        }
    }
    return pair.slowest ? std::optional(pair) : std::nullopt;
}

std::optional<std::array<double, 2>> zoneUsdPerGb(const Cluster &cluster, const WanLink &link)
{
    const ZoneNetwork *network = zoneNetworkOf(cluster, link);
    if (!network)
        return std::nullopt;
    const std::array<std::string, 2> zones = zonesOf(cluster, link, *network);
    const auto there = network->usdPerGb(zones[0], zones[1]), back = network->usdPerGb(zones[1], zones[0]);
    return there && back ? std::optional(std::array { *there, *back }) : std::nullopt;
}

} // namespace trainyard
