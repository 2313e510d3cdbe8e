#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Plans that state the number of replicas which `data: auto` would begin with, where a test is about something else
// than how many there are.

#include "core/evaluation/evaluate/run.h"

namespace trainyard::test {

/// With as many replicas as there is room for.
inline Plan withMostReplicas(Plan plan)
{
    EvaluationWorkspace workspace;
    const auto placed = run(std::make_shared<const Plan>(plan), Depth::Fit,
        { .catalogue = builtinCatalogue(), .workspace = workspace, .replicas = OpenReplicas::Most });
    if (placed && (*placed)->layout.data > 0)
        plan.parallelism.data = (*placed)->layout.data;
    return plan;
}

/// The whole evaluation of `plan` with as many replicas as there is room for.
inline EvaluationPtr evaluatedWithMost(Plan plan)
{
    EvaluationWorkspace workspace;
    auto result = run(std::make_shared<const Plan>(std::move(plan)), Depth::Everything,
        { .catalogue = builtinCatalogue(), .workspace = workspace, .replicas = OpenReplicas::Most });
    if (!result)
        qFatal("%s", toString(result.error().front()).c_str());
    return *result;
}

} // namespace trainyard::test
