#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a placement came to, stated in a plan: a plan that stays as it was placed. Pure functions.

#include "core/iteration/placement/layout.h"

#include <vector>

namespace trainyard {

/// The way of its pipelines through datacenters, stage by stage.
[[nodiscard]] std::vector<DatacenterBlock> blocksOf(const PipelineClass &pipelines);
/// Pins stages to the blocks, behind those that the plan pins already.
void pinStages(Plan &plan, const std::vector<DatacenterBlock> &blocks);

/// The plan with as many replicas as the layout has, its mode and, where stages are not pinned and all of its pipelines
/// take the same way across datacenters, that way. A layout that holds nothing changes nothing. Degrees stay.
[[nodiscard]] Plan asPlaced(Plan plan, const Layout &layout);

} // namespace trainyard
