#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The memory that a plan may take, before there is an order of work to count.

#include "core/evaluate/evaluation.h"
#include "core/placement/resolve.h"

namespace trainyard {

/// Of a workload with a layout, the most that any order of its schedule makes every stage hold, as if all activations
/// stayed on the GPU: never less than stageMemory() of a plan whose activations do, and the same for one chunk a stage
/// under 1f1b and gpipe. Without names.
[[nodiscard]] std::vector<StageMemory> boundedStageMemory(const Workload &workload);

} // namespace trainyard
