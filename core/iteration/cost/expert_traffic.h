#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What layers of experts send in an iteration.

#include "core/iteration/cost/stage_costs.h"
#include "core/iteration/cost/wan/expert_wan.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// Bytes that one GPU of a stage sends through a way in an iteration: dispatch and combine of all its expert layers,
/// forward, backward and where the forward is done again.
[[nodiscard]] ExchangedBytes exchangedBytes(
    const Workload &workload, const StageCosts &costs, const PipelineClass &pipelines, int stage, Way way);

/// In which one micro-batch's backward, a forward that is done again too, has the links between datacenters for its
/// tokens. Nothing else is sent over them meanwhile.
[[nodiscard]] Seconds expertsOnWan(const Workload &workload, const StageCosts &costs, int stage);

} // namespace trainyard
