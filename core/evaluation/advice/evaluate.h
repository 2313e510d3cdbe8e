#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A plan's whole evaluation, fixes included, or as much of it as is asked for (core/evaluation/evaluate/run.h).
//
//   EvaluationWorkspace workspace;
//   const auto evaluation = evaluate(plan, builtinCatalogue(), workspace);

#include "core/evaluation/advice/fixes.h"

namespace trainyard {

[[nodiscard]] inline ExpectedAll<EvaluationPtr> evaluate(PlanPtr plan, const Catalogue &catalogue,
    EvaluationWorkspace &workspace, std::stop_token stop = {}, Depth depth = Depth::Everything)
{
    return run(std::move(plan), depth,
        { .catalogue = catalogue, .workspace = workspace, .stop = std::move(stop), .fixes = &allFixes() });
}

} // namespace trainyard
