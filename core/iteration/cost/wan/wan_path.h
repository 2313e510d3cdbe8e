#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One node pair across datacenters, one direction: which link it takes and what it reaches. docs/model.md, "WAN".

#include "core/base/units.h"
#include "core/iteration/cost/wan/wan_use.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

struct WanPath {
    /// index into Cluster::wanLinks; negative: no link joins the two
    int link = -1;
    /// 0: from the first to the second of `between`
    int way = 0;
    /// the transport's rate, bounded by the NICs of either node
    BytesPerSecond nodePair {};
    /// RTT / 2
    Seconds latency {};
};

[[nodiscard]] WanPath wanPath(const Workload &workload, StageLocation from, StageLocation to);

/// Which of the link's two directions leads away from a datacenter.
[[nodiscard]] int direction(const Cluster &cluster, const WanLink &link, int from);

/// What a node pair of the link reaches, and why no more.
struct PairLimit {
    WanLimit limit = WanLimit::NodePair;
    BytesPerSecond rate {};
};
/// Of the transport alone: the provider's cap, the window or losses.
[[nodiscard]] PairLimit transportLimit(const Workload &workload, int link);

/// All NICs of one node together: they carry WAN and fabric traffic alike.
[[nodiscard]] BytesPerSecond nicRate(const Workload &workload, StageLocation location);

/// What one node may put on the link.
[[nodiscard]] BytesPerSecond nodeRate(const Workload &workload, int link, StageLocation location);

} // namespace trainyard
