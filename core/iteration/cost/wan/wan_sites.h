#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The way on which gradients pass all datacenters that hold replicas of one stage (placement/ranks.h): a ring over WAN
// links where there is one, else a chain there and back, else a tree of direct links, up and down.

#include "core/iteration/cost/wan/wan_path.h"
#include "core/iteration/placement/ranks.h"

#include <cstdint>
#include <vector>

namespace trainyard {

/// Whether one ring joins all ranks of a stage. Not under local SGD, which exchanges datacenter by datacenter, nor
/// where layers scatter their gradients on their own (ZeRO-2 on): that leaves nothing to a ring at the end.
[[nodiscard]] bool reducesFlat(const Workload &workload, const std::vector<ReplicaSite> &sites);

struct SiteRoute {
    /// a ring: each in one direction; else each link once, used both ways
    std::vector<WanPath> hops;
    /// of each hop, that send side by side
    std::vector<int> nodePairs;
    bool isRing = false;
    /// hops that were looked at to find it, the same on every machine: some times datacenters and links, never all
    /// pairs of datacenters
    std::int64_t looked = 0;
    /// of all hops, one way
    [[nodiscard]] Seconds latency() const;
};

/// The order in which `gradient` is reduced soonest: of all orders of up to seven datacenters, of more the best of some
/// thousands. `wholeNodes`: every node of a site sends (hierarchical); else one node
/// pair carries a hop. `sharing`: reductions that use a link at once, for its capacity.
[[nodiscard]] SiteRoute siteRoute(
    const Workload &workload, std::vector<ReplicaSite> sites, Bytes gradient, bool wholeNodes, int sharing);

} // namespace trainyard
