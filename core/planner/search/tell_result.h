#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of a search that has ended and knows what was asked for. Private to the folder.

#include "core/planner/search/search.h"

namespace trainyard::detail {

/// "8.2 % faster than your plan; proven best of 12,400 combinations, 212 simulated", with the world in which the plan
/// fails where that is not its own; and which rows are on the front.
void tellAnswer(SearchResult &result);

} // namespace trainyard::detail
