#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Gives a class of pipelines its rows of states off the GPU: the tasks of the optimizer step, and what moves layer by
// layer beside its operations. The times of operations and steps stay as they are. docs/model.md, "States off the GPU".

#include "core/iteration/cost/stage_costs.h"

namespace trainyard {

/// Fills `pipeline.states`; its operations, pairs, what follows the last operation and program are there. Nothing where
/// the plan keeps its states.
void addStateRows(const Plan &plan, const std::vector<StageCosts> &stages, PipelineCosts &pipeline);

} // namespace trainyard
