#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What TCP reaches over a wide-area link, and what a byte costs there. One connection is limited by its window, as the
// hosts set it or as losses leave it: it sends at most one window per round trip. A pair of nodes is limited by the
// provider. Per direction: links are full duplex. (Atlas, arXiv 2411.14458; what that says of windows is in
// resources/catalog/statements.json. Losses: RFC 9438.)
//
//   const Transport t = transportOf(link, plan.wan, catalogue);   // one node pair, one direction: t.rate,
//   t.connections

#include "core/base/units.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan.h"

namespace trainyard {

/// One node pair of a link, one direction.
struct Transport {
    int connections = 1;
    /// connections that the node pair would take to be full; `auto` may stop short of it
    int toFill = 1;
    /// that one connection keeps under way
    Bytes window;
    /// what arrives
    BytesPerSecond rate {};
    /// what the link lets the pair have: as it states, or as its network source measured
    double capGbps = 0;
    /// the latter
    bool isMeasured = false;
    /// losses leave less of the window than the hosts allow
    bool lossBound = false;
};

/// There and back over a link, milliseconds: what every latency and every TCP window goes by. One way takes half.
[[nodiscard]] inline double roundTripMs(const WanLink &link)
{
    return link.rttMs + link.jitterMs;
}

/// min(pair cap, n W / RTT). With no round-trip time the cap alone counts.
[[nodiscard]] BytesPerSecond tcpThroughput(double connections, Seconds rtt, Bytes window, BytesPerSecond pairCap);

/// ceil(cap RTT / W), at least 1: connections that fill a node pair.
[[nodiscard]] int connectionsToFill(Seconds rtt, Bytes window, BytesPerSecond pairCap);

/// Mean window of one connection where a share `loss` of its packets is lost, in segments: the larger of Reno's
/// 1.2 / sqrt(p) and CUBIC's (C (3 + b) / (4 (1 - b)))^1/4 RTT^3/4 / p^3/4 (RFC 9438, 4.3 and 5.1, constants of
/// NetworkSpec::wan). Timeouts are left out: optimistic beyond losses of a few percent. Infinite without loss.
[[nodiscard]] double lossWindowSegments(double loss, Seconds rtt);

/// What a node pair reaches: min(cap, n min(W, W_loss) / RTT), of which a share 1 - loss arrives. W is the cloud's
/// where the link names one of the catalogue, else its own. BBR takes no loss for congestion up to its threshold
/// (NetworkSpec::wan); beyond it is taken to do as CUBIC. Connections as given, or as many as fill the pair and at most
/// WanTcp::mostConnections: a number that neither loss nor round trip raises, so that a rate never rises with either.
/// `measured`: what its network source says instead of node_pair_gbps (zone_links.h).
[[nodiscard]] Transport transportOf(const WanLink &link, const WanStrategy &strategy, const Catalogue &catalogue,
    std::optional<BytesPerSecond> measured = {});

/// The region of the catalogue that a datacenter's id or name says it is; nullptr where it is none.
[[nodiscard]] const Region *regionOf(const Datacenter &datacenter, const Catalogue &catalogue);

/// USD per 10^9 bytes sent over a link, [first to second, second to first] of `between`: the link's own price, else the
/// catalogue's by zone or region, else kDefaultEgressUsdPerGb.
[[nodiscard]] std::array<double, 2> egressUsdPerGb(const Plan &plan, const Catalogue &catalogue, int linkIndex);
/// docs/plan-file.md, "Defaults"
inline constexpr double kDefaultEgressUsdPerGb = 0.02;

} // namespace trainyard
