#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What TCP reaches over a wide-area link, and what a byte costs there. One connection is limited by its window: it sends
// at most one window per round trip. A pair of nodes is limited by the provider. Per direction: links are full duplex.
// (Atlas, arXiv 2411.14458; measured single-connection rates there imply a window of 1.47 to 1.53 MB.)
//
//   const BytesPerSecond rate = nodePairThroughput(link, wan.tcpConnections);   // one node pair, one direction

#include "core/base/units.h"
#include "core/catalogue/catalogue.h"
#include "core/plan/plan.h"

namespace trainyard {

/// min(pair cap, n W / RTT). With no round-trip time the cap alone counts.
[[nodiscard]] BytesPerSecond tcpThroughput(double connections, Seconds rtt, Bytes window, BytesPerSecond pairCap);

/// ceil(cap RTT / W), at least 1: connections that fill a node pair.
[[nodiscard]] int connectionsToFill(Seconds rtt, Bytes window, BytesPerSecond pairCap);

/// Connections of a node pair of this link: as given, or as many as fill it.
[[nodiscard]] int tcpConnections(const WanLink &link, const Auto<int> &connections);
/// One node pair, one direction.
[[nodiscard]] BytesPerSecond nodePairThroughput(const WanLink &link, const Auto<int> &connections);

/// The region of the catalogue that a datacenter's id or name says it is; nullptr where it is none.
[[nodiscard]] const Region *regionOf(const Datacenter &datacenter, const Catalogue &catalogue);

/// USD per 10^9 bytes sent over a link, [first to second, second to first] of `between`: the link's own price, else the
/// catalogue's by region, else kDefaultEgressUsdPerGb.
[[nodiscard]] std::array<double, 2> egressUsdPerGb(const Plan &plan, const Catalogue &catalogue, int linkIndex);
inline constexpr double kDefaultEgressUsdPerGb = 0.02;   // docs/plan-file.md, "Defaults"

} // namespace trainyard
