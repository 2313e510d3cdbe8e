#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What an iteration sends over a link between datacenters, and what keeps it from going faster. Plain values.

#include <array>
#include <cstdint>

namespace trainyard {

/// What keeps a transfer between datacenters from going faster.
enum class WanLimit : std::uint8_t { None, NodePair, TcpWindow, PacketLoss, NodeNics, LinkCapacity };
/// "node pair", "TCP window" …; empty for None.
[[nodiscard]] const char *toString(WanLimit limit);

struct WanLinkUse {
    int link = 0; // index into Cluster::wanLinks
    std::array<double, 2> bytes {}; // a->b, b->a, all pipelines, one iteration
    double utilization = 0; // of the capacity of the busier direction, over the iteration
    int tcpConnections = 0; // of one node pair
    double nodePairGbps = 0; // what one node pair reaches
    bool isMeasured = false; // bound by what the link's network source measured, not by what the link states
    [[nodiscard]] double totalBytes() const { return bytes[0] + bytes[1]; }

    // Use ÷ what can be used. While it carries, a transfer goes as fast as its binding limit lets it, so this is the
    // share of the iteration in which the busiest stage boundary of the link, and after it the gradient sync, carries
    // in either direction.
    double usableUtilization = 0;
    std::array<double, 2> carrying {}; // the same, one direction
    WanLimit limit = WanLimit::None; // what binds that boundary, or would where the link carries nothing
    double limitGbps = 0; // of one node pair; of the whole link where its capacity binds
    std::array<double, 2> syncSeconds {}; // one iteration's gradient sync between replicas, by direction, at its limit
    // In which tokens pass to experts and back, at the limit of a rank of the stage that sends most; latency apart
    std::array<double, 2> expertSeconds {};
};

} // namespace trainyard
