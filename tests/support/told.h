#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a panel is told in a test: a plan with an evaluation of it, or an evaluation of what an edit of it would make.

#include "models/shown.h"

namespace trainyard::test {

[[nodiscard]] inline Shown told(const PlanPtr &plan, const EvaluationPtr &evaluation)
{
    return { plan, plan, evaluation, {}, Shown::Role::Own };
}

[[nodiscard]] inline Shown previewed(const EvaluationPtr &evaluation, const PlanPtr &base)
{
    return { evaluation->plan, base, evaluation, {}, Shown::Role::Preview };
}

} // namespace trainyard::test
