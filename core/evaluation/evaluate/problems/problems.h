#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What stands between a plan and its run, in sentences; with a change that would help where the problem itself says it.
// What has to be looked for is in core/evaluation/advice/fixes.h.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// Problems of a placed plan: memory, idle GPUs, few micro-batches, and what the plan asks that is not modelled.
[[nodiscard]] std::vector<Problem> findProblems(
    const Evaluation &evaluation, const Workload &workload, const Catalogue &catalogue);
/// The problem of a plan with more stages than its model has layers, which resolve() refuses.
[[nodiscard]] Problem tooManyStagesProblem(const Plan &plan, const ModelSpec &model);
/// The problem of a plan whose stages have no locations.
[[nodiscard]] Problem unplacedProblem(const Plan &plan, const Layout &layout);
/// The problem of a plan whose schedule cannot be built for its shapes.
[[nodiscard]] Problem scheduleProblem(const Error &error);

} // namespace trainyard
