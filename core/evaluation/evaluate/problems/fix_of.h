#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How a problem's fix is made: a copy of the plan with a change, and what to call it. For the files that find problems.

#include "core/evaluation/evaluate/evaluation.h"

#include <utility>

namespace trainyard {

/// `change` takes the copy, a Plan &.
template <class Change> [[nodiscard]] Fix fixOf(Plan plan, std::string label, Change &&change)
{
    change(plan);
    return { std::move(label), std::make_shared<const Plan>(std::move(plan)) };
}

} // namespace trainyard
