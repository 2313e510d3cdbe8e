#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the window shows, as one value that every panel receives: the plan, its evaluation, the plan that edits start
// from, and whose plan it is. Panels get plan and evaluation together, so that no two of them tell of different plans.
// A value without behaviour; GUI thread.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/plan/plan.h"

namespace trainyard {

struct Shown {
    enum class Role {
        Own, ///< the document's plan
        Tried, ///< another plan in its place, until it is adopted or left
        Preview, ///< what an edit that hovers would make; comes with its evaluation
    };

    PlanPtr plan;
    /// The plan that edits start from: `plan`, but under a preview the plan below it.
    PlanPtr base;
    /// The newest there is. Of `plan`, except in the moment after an edit, when it is of the plan before; null where
    /// nothing is known.
    EvaluationPtr evaluation;
    /// why `plan` has no evaluation
    Errors errors;
    Role role = Role::Own;

    [[nodiscard]] bool isPreview() const { return role == Role::Preview; }
    /// The evaluation is of the plan, not of the one before.
    [[nodiscard]] bool isCurrent() const { return evaluation && evaluation->plan == plan; }
};

/// A plan of its own that is not evaluated yet.
[[nodiscard]] inline Shown shownOf(const PlanPtr &plan)
{
    return { plan, plan, nullptr, {}, Shown::Role::Own };
}

/// A plan of its own with its evaluation; nothing at all where that is null.
[[nodiscard]] inline Shown shownOf(const EvaluationPtr &evaluation)
{
    const PlanPtr plan = evaluation ? evaluation->plan : nullptr;
    return { plan, plan, evaluation, {}, Shown::Role::Own };
}

} // namespace trainyard
