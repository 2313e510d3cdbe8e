#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of the planner's page: the best candidates with what they change, and what was left out and why. And the
// tooltip of a candidate. Pure functions.

#include "models/plan_search.h"
#include "models/validation/text_table_model.h"

namespace trainyard {

/// A figure as `text` writes it; a dash where it is not above 0.
[[nodiscard]] QString orDash(double value, QString (*text)(double));

[[nodiscard]] TextRows bestTable(const PlanSearch &search);
[[nodiscard]] TextRows leftOutTable(const PlanSearch &search);
/// Rich text: what the candidate is, its figures, and what it changes of the plan.
[[nodiscard]] QString candidateTip(const PlanSearch &search, std::size_t row);

} // namespace trainyard
