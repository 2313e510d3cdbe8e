#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// By how much a candidate misses the constraints, in numbers. Pure functions.

#include "core/planner/search/objective.h"
#include "core/planner/search/search.h"

namespace trainyard {

/// Sets `shortfall` and `missedBy` of the row, by the constraint that is missed by the largest share of what is
/// allowed; nothing where none of those with numbers is missed. `margin`: share of memory that has to stay free.
void tellShortfall(SearchRow &row, const ObjectiveFigures &figures, const Constraints &constraints, double margin);

/// "it takes more days than allowed: needs 444 days, allowed 1".
[[nodiscard]] std::string reasonWithNumbers(const SearchRow &row);

} // namespace trainyard
