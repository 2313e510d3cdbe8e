// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/wan/wan_path.h"

#include <algorithm>

namespace trainyard {

int direction(const Cluster &cluster, const WanLink &link, int from)
{
    return link.between[0] == cluster.datacenters[std::size_t(from)].id ? 0 : 1;
}

PairLimit transportLimit(const Workload &workload, int link)
{
    const Transport &pair = workload.transports[std::size_t(link)];
    const BytesPerSecond cap = gbitsPerSecond(pair.capGbps);
    const bool fills = tcpThroughput(pair.connections, milliseconds(workload.roundTripMs(link)), pair.window, cap).value
        >= cap.value * (1 - 1e-9);
    return { fills ? WanLimit::NodePair : pair.lossBound ? WanLimit::PacketLoss : WanLimit::TcpWindow, pair.rate };
}

BytesPerSecond nicRate(const Workload &workload, StageLocation location)
{
    return gbitsPerSecond(workload.fabricGbps(location)) * workload.pool(location).gpusPerNode;
}

BytesPerSecond nodeRate(const Workload &workload, int link, StageLocation location)
{
    return std::min(workload.transports[std::size_t(link)].rate, nicRate(workload, location));
}

WanPath wanPath(const Workload &workload, StageLocation from, StageLocation to)
{
    const Cluster &cluster = workload.plan->cluster;
    WanPath path;
    path.link = workload.links.between(from.datacenter, to.datacenter);
    if (path.link < 0)
        return path;
    const WanLink &link = cluster.wanLinks[std::size_t(path.link)];
    path.way = direction(cluster, link, from.datacenter);
    path.nodePair = std::min(nodeRate(workload, path.link, from), nodeRate(workload, path.link, to));
    path.latency = milliseconds(workload.roundTripMs(path.link) / 2);
    return path;
}

} // namespace trainyard
