#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Activation offloading of an iteration: cuts the operations of each stage into modules, decides how many of them leave
// the GPU, and says what that means for times (IterationCosts) and bytes (StageOffload). docs/model.md, "Activation
// offload".

#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/cost/stage_costs.h"

#include <functional>
#include <stop_token>

namespace trainyard {

class GraphCache;

/// The costs of stages as a class of pipelines has them: with micro-batches of its own size.
using CosterOfClass = std::function<StageCoster &(const PipelineClass &)>;

/// Fills `costs.iteration.classes[].offload` and `costs.offload`. Does nothing where the plan keeps its activations, or
/// its schedule does not let them leave (whyActivationsStay). Stopped, the amount is that of a bound without search.
void planOffload(const Workload &workload, const CosterOfClass &costerOf, Costs &costs,
    const std::stop_token &stop = {}, GraphCache *graphs = nullptr);

} // namespace trainyard
