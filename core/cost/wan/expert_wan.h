#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Tokens on their way to experts in other datacenters: what one rank has of the node pairs and links between them while
// all ranks of all groups send, and what that is on each link of the cluster. docs/experts.md, "Over datacenters".

#include "core/cost/wan/wan_path.h"
#include "core/experts/expert_group.h"
#include "core/placement/expert_spread.h"

namespace trainyard {

/// One direction of one rank, and what binds it.
struct ExpertWan {
    WanWay way;
    int link = -1; // the one that binds
    PairLimit limit;
};

/// Of a rank of the location in the group `spread` of the stage, which is across. A group's node sends to all other
/// nodes of it at once: over each pair at the transport's rate, shared by the GPUs of the node that send there, within
/// the GPU's own NIC, and within its part of the link's capacity, on which all ranks of all stages send. Bytes go to
/// each rank elsewhere alike, so the slowest part decides.
[[nodiscard]] ExpertWan expertWan(const Workload &workload, StageLocation at, int stage, const ExpertSpread &spread);

/// Counts on the links what the class's ranks of the stage send in an iteration, where one of a rank of expertSpread()
/// sends `bytes` to other datacenters, and how long it does. A rank whose group has fewer ranks elsewhere sends in
/// proportion less, and to each rank elsewhere as much.
void addExpertBytes(
    const Workload &workload, const PipelineClass &pipelines, int stage, double bytes, std::vector<WanLinkUse> &links);

} // namespace trainyard
