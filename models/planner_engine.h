#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the planner of the window asks of the core, as functions, so that a test may answer in its place: the search,
// the steps to a found plan, a plan without what it leaves idle, and the worlds that a plan may meet. Values; functions
// are called on threads of the pool.

#include "core/planner/search/idle_nodes.h"
#include "core/planner/search/steps.h"

#include <functional>

namespace trainyard {

struct PlannerEngine {
    std::function<ExpectedAll<SearchResult>(const PlanPtr &plan, const Catalogue &catalogue,
        const SearchOptions &options, std::stop_token stop,
        const std::function<void(const SearchProgress &)> &onProgress)>
        search;
    std::function<ExpectedAll<std::vector<SearchStep>>(const SearchResult &found, std::size_t row,
        const Catalogue &catalogue, EvaluationWorkspace &workspace, std::stop_token stop)>
        steps;
    std::function<ExpectedAll<Trimmed>(const PlanPtr &plan, const RunContext &context)> withoutIdle;
    std::function<std::vector<NamedScenario>(const Plan &plan, const Catalogue &catalogue)> scenarios;
};

/// The core's own.
[[nodiscard]] PlannerEngine corePlanner();

} // namespace trainyard
