#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Tokens on their way to experts in other datacenters: what one rank has of the node pairs and links between them while
// all ranks of all groups send, and what that is on each link of the cluster. docs/model.md, "Placement".

#include "core/iteration/cost/wan/wan_path.h"
#include "core/iteration/placement/expert_spread.h"
#include "core/systems/experts/expert_group.h"

namespace trainyard {

/// One direction of one rank, and what binds it.
struct ExpertWan {
    WanWay way;
    int link = -1; // the one that binds
    PairLimit limit;
};

/// Of a group of the stage that is across: the rate at which a rank of its smallest datacenter, which sends most, would
/// have sent when the last rank of the group has. A group's node sends to all other nodes of it at once: over each pair
/// at the transport's rate, shared by the GPUs of the node that send there, each within its own NIC, and within its
/// part of the link's capacity, on which all ranks of all stages send. Bytes go to each rank elsewhere alike.
[[nodiscard]] ExpertWan expertWan(const Workload &workload, int stage, const ExpertSpread &spread);

/// Counts on the links what the class's ranks of the stage send in an iteration, and for how long. `bytes`: what a rank
/// of the smallest datacenter of the group expertSpread() sends to others. A rank with fewer ranks elsewhere sends in
/// proportion less, to each of them as much.
void addExpertBytes(
    const Workload &workload, const PipelineClass &pipelines, int stage, double bytes, std::vector<WanLinkUse> &links);

} // namespace trainyard
