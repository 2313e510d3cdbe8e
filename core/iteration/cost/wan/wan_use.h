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
    /// index into Cluster::wanLinks
    int link = 0;
    /// a->b, b->a, all pipelines, one iteration
    std::array<double, 2> bytes {};
    /// of the capacity of the busier direction, over the iteration
    double utilization = 0;
    /// of one node pair
    int tcpConnections = 0;
    /// what one node pair reaches
    double nodePairGbps = 0;
    /// bound by what the link's network source measured, not by what the link states
    bool isMeasured = false;
    [[nodiscard]] double totalBytes() const { return bytes[0] + bytes[1]; }

    // Use ÷ what can be used. While it carries, a transfer goes as fast as its binding limit lets it, so this is the
    // share of the iteration in which the busiest stage boundary of the link, and after it the gradient sync, carries
    // in either direction.
    double usableUtilization = 0;
    /// the same, one direction
    std::array<double, 2> carrying {};
    /// what binds that boundary, or would where the link carries nothing
    WanLimit limit = WanLimit::None;
    /// of one node pair; of the whole link where its capacity binds
    double limitGbps = 0;
    /// one iteration's gradient sync between replicas, by direction, at its limit
    std::array<double, 2> syncSeconds {};
    // In which tokens pass to experts and back, at the limit of a rank of the stage that sends most; latency apart
    std::array<double, 2> expertSeconds {};
};

} // namespace trainyard
