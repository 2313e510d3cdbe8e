#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Stages and layers whose times were measured.

#include "core/iteration/cost/stage_costs.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// Measured times stand for everything; only WAN, schedule and the all-reduce asked for, of which nothing hides, are
/// modelled. In so many equal chunks.
[[nodiscard]] StageCosts measuredStage(const Workload &workload, int stage, int chunks, const RankGroup &data);

/// One layer as it was measured. Weight gradients are half of a backward pass.
[[nodiscard]] ChunkCost measuredCost(const Workload &workload, const GpuLayerTimes &times);

} // namespace trainyard
