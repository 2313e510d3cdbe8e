#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The channel of a stage boundary, local or between datacenters. docs/model.md, "WAN". What replicas in different
// datacenters exchange is in wan_reduce.h.

#include "core/iteration/cost/layer/layer_cost.h"
#include "core/iteration/cost/stage_costs.h"
#include "core/iteration/cost/wan/wan_path.h"

namespace trainyard {

/// What passes a boundary, as shares: of a micro-batch's tokens, and of the pipeline's micro-batches.
struct Crossing {
    double tokens = 1, microBatches = 1;
};

/// The boundary of one pipeline between two stages (virtual stage q to q + 1); counts its bytes on the link. In a cell
/// of D members: the channel takes bytes / (D rate), and the sender's fabric scatters, the receiver's gathers, (D - 1)
/// / D of the bytes (nothing under a profile, which has no cost but its own).
[[nodiscard]] BoundaryTimes boundaryTimes(const Workload &workload, const PipelineClass &pipelines, int fromStage,
    int toStage, const LayerSite &site, std::vector<WanLinkUse> &links, Crossing crossing = {});

/// What one group (under a profile, one pipeline) has of its node pair between two locations, bytes/s.
[[nodiscard]] double shareOfPair(const Workload &workload, int link, StageLocation from, StageLocation to);

/// What binds that share: the node pair's transport, or the NICs of the node that has to share them more.
[[nodiscard]] PairLimit limitOfPair(const Workload &workload, int link, StageLocation from, StageLocation to);

} // namespace trainyard
