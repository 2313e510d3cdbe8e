#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a planner would change in a plan, and what each change buys: the way from the plan to the found one, one axis at
// a time, next the change that gains most by the objective where it can be made alone; changes that only work together
// (tensor parallel × pipeline) are one step. What changes nothing comes last. Every plan on the way is valid and runs,
// from a plan that cannot on as soon as may be; one that breaks a limit of the search says so. Gains are those of the
// search's objective, over its scenarios where it has any, and multiply up: Π (1 − gain) = value at the end / value of
// the plan.

#include "core/planner/search/search.h"

namespace trainyard {

struct SearchStep {
    /// of describeDifferences(): "Tensor parallel 4 → 8"
    std::vector<std::string> sentences;
    /// with this step and those before it
    PlanPtr plan;
    bool isFeasible = true;
    /// which limit it does not keep: "it costs more per hour than allowed: needs $300 an hour, allowed $200"; empty:
    /// none
    std::string breaks;
    /// after it
    double value = 0, seconds = 0, usdPerMillionTokens = 0;
    /// share of the objective that it saves against the step before: 0.03 is 3 %; may be negative. 0 where the plan
    /// before has no time
    double gain = 0;
};

/// `row`: of found.rows. Takes about n² evaluations for n axes that differ. Errors: Cancelled, and as run() of the two.
[[nodiscard]] ExpectedAll<std::vector<SearchStep>> stepsBetween(const SearchResult &found, std::size_t row,
    const Catalogue &catalogue, EvaluationWorkspace &workspace, std::stop_token stop = {});

} // namespace trainyard
