#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How much of the states that ZeRO divides each GPU holds where pipelines are unequal: as much as its memory leaves
// beside its micro-batches, by the rules of core/systems/unequal_gpus/state_fill.h. docs/model.md, "Mixed GPUs".

#include "core/iteration/placement/resolve.h"
#include "core/iteration/placement/state_share.h"

namespace trainyard {

/// GPUs that share one set of the class's states: replicas and context ranks, of one datacenter where whole pipelines
/// lie apart.
[[nodiscard]] int stateSharers(const Workload &workload, const PipelineClass &pipelines);

/// Sets PipelineClass::stateShare by the plan's rule, around shares that are pinned there; those of GPUs that hold the
/// same states add up to 1. A pipeline has one share on all its stages, which the stage with least room for it bounds.
/// Everything stays even where that fits and is asked for, where nothing is divided, and where states have no room
/// anyway.
void dealStates(Workload &workload);

} // namespace trainyard
