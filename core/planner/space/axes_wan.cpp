// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/axes_internal.h"

namespace trainyard::detail {

void addWanAxes(AxisList &axes, const Scope &scope)
{
    if (scope.datacenters < 2 || scope.plan.cluster.wanLinks.empty())
        return;
    const WanStrategy &now = scope.plan.wan;
    axes.addChoices(
        "sharing", "wan.sharing", "WAN sharing", now.sharing, [](Plan &p, WanSharing s) { p.wan.sharing = s; });
    using Count = Auto<int>;
    const auto countText = [](const Count &count) { return count ? std::to_string(*count) : std::string("auto"); };
    axes.add(
        "cell", { "wan.cell" }, "Cell size", std::vector<Count> { {}, 2, 4, 8 }, now.cell,
        [](Plan &p, const Count &n) { p.wan.cell = n; }, countText);
    axes.add(
        "tcp_connections", { "wan.tcp_connections" }, "TCP connections", std::vector<Count> { Count {} },
        now.tcpConnections, [](Plan &p, const Count &n) { p.wan.tcpConnections = n; }, countText);
    axes.addChoices("all_reduce", "wan.all_reduce", "All-reduce across sites", now.allReduce,
        [](Plan &p, WanAllReduce r) { p.wan.allReduce = r; });
    if (std::ranges::any_of(scope.plan.cluster.wanLinks, [](const WanLink &link) { return link.lossRate > 0; }))
        axes.addChoices("congestion_control", "wan.congestion_control", "Congestion control", now.congestion,
            [](Plan &p, CongestionControl c) { p.wan.congestion = c; });
}

} // namespace trainyard::detail
