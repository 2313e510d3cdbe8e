#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Tokens on their way to experts in other datacenters: what one rank has of the node pairs and links between them while
// all ranks of all groups send, and what that is on each link of the cluster. docs/model.md, "Placement".

#include "core/iteration/cost/wan/wan_path.h"
#include "core/iteration/cost/wan/wan_use.h"
#include "core/iteration/placement/expert_spread.h"
#include "core/systems/experts/exchange.h"

namespace trainyard {

/// Bytes that one GPU sends through one way in an iteration.
struct ExchangedBytes {
    double dispatch = 0, combine = 0;
    [[nodiscard]] double total() const { return dispatch + combine; }
};

/// One direction of one rank, and what binds it.
struct ExpertWan {
    WanWay way;
    /// the one that binds
    int link = -1;
    PairLimit limit;
};

/// Of a group of the stage that is across: the rate at which a rank of its smallest datacenter would have sent when the
/// last rank of the group has. A group's node sends to all other nodes of it at once: over each pair at the transport's
/// rate, shared by the GPUs of the node that send there, each within its own NIC, and within the link's capacity, on
/// which all ranks of all stages send. `tokens`: what they choose, for dispatches that send one copy to a datacenter.
[[nodiscard]] ExpertWan expertWan(
    const Workload &workload, int stage, const ExpertSpread &spread, const ExpertTokens &tokens);

/// Counts on the links what the class's ranks of the stage send in an iteration, and for how long. `traffic`: what the
/// exchanges of `tokens` count for a rank of the smallest datacenter of the group expertSpread(); what ranks of other
/// groups and datacenters send follows from how many copies of its tokens `dispatch` makes.
void addExpertBytes(const Workload &workload, const PipelineClass &pipelines, int stage, const ExpertTokens &tokens,
    MoeDispatch dispatch, const ExchangedBytes &traffic, std::vector<WanLinkUse> &links);

} // namespace trainyard
