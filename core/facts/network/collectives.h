#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Time of collectives in the alpha-beta form: start-up and dependent steps, plus volume over bandwidth, plus the ramp
// that medium messages show. Ring volumes after Thakur, Rabenseifner, Gropp 2005; hierarchical: reduce-scatter inside
// the node, ring of every local rank over its own NIC, all-gather inside. Formulas in docs/model.md, "Collectives".

#include "core/base/units.h"
#include "core/facts/hardware/gpu_spec.h"
#include "core/facts/hardware/network_spec.h"

namespace trainyard {

struct Link { // one GPU's way to its peers, one direction
    /// nominal
    BytesPerSecond bandwidth {};
    const LinkClass *kind = nullptr;
    bool operator==(const Link &other) const { return bandwidth.value == other.bandwidth.value && kind == other.kind; }
};

/// A group of equal ranks: `ranksPerNode` of them share a node (1 = every rank in its own).
struct RankGroup {
    int ranks = 1, ranksPerNode = 1;
    Link inside, between;
    [[nodiscard]] int nodes() const { return (ranks + ranksPerNode - 1) / ranksPerNode; }
};

/// The way of this GPU to its neighbours: NVLink, xGMI, or PCIe where it has neither.
[[nodiscard]] Link deviceLink(const GpuSpec &gpu, const NetworkSpec &network);
/// The way through a datacenter's fabric, of one GPU's share of the NICs: RDMA ...
[[nodiscard]] Link fabricLink(BytesPerSecond perGpu, const NetworkSpec &network);
/// ... or TCP between machines of `gpusPerNode` GPUs: the measured machine with as many, else the next smaller one.
[[nodiscard]] Link tcpLink(BytesPerSecond perGpu, int gpusPerNode, const NetworkSpec &network);

/// Moving `volume` bytes in or out of one GPU in `steps` dependent steps.
[[nodiscard]] Seconds transferTime(Bytes volume, double steps, const Link &link);

// `size`: bytes of the whole (unsharded) tensor on one rank. 0 s for a group of one.
/// the better of ring and tree
[[nodiscard]] Seconds allReduceTime(Bytes size, const RankGroup &group);
[[nodiscard]] Seconds reduceScatterTime(Bytes size, const RankGroup &group);
[[nodiscard]] Seconds allGatherTime(Bytes size, const RankGroup &group);
/// Every rank sends size / ranks to every other; flat, NVLink and NIC parts side by side.
[[nodiscard]] Seconds allToAllTime(Bytes size, const RankGroup &group);

/// Tokens on their way to their experts: each visits `choices` of them, `tokenBytes` a visit.
struct ExpertTraffic {
    double tokens = 0;
    Bytes tokenBytes;
    int choices = 1;
    /// different ones that a token visits (experts/fan_out.h); 0: as if drawn with return
    double ranks = 0, nodes = 0;
};
/// One rank's tokens to the group, or the weighted sums of their results back. A token crosses to a rank once, however
/// many of its experts live there. By the links' fitted figures (tools/fit_network); a layer's exchanges are made of
/// legs with the same times (core/systems/experts/exchange.h).
[[nodiscard]] Seconds expertDispatchTime(const ExpertTraffic &traffic, const RankGroup &group);

} // namespace trainyard
