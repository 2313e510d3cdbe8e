#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which rows of a search are on the front of time against money: one rule for what is told, drawn and written. Pure
// functions, any thread.

#include "core/planner/search/search.h"

#include <span>
#include <vector>

namespace trainyard {

/// Rows that no other one beats in both the time of an iteration and USD per million tokens, cheapest first; of equals
/// one that is feasible, of these the first. Of those that can run, with both known: the feasible ones, and the outdone
/// ones that were simulated and whose money is told. The latter were not judged in scenarios: where the worst case is
/// asked for, any of these may have broken them, and they are left out.
[[nodiscard]] std::vector<std::size_t> frontOf(std::span<const SearchRow> rows, const SearchOptions &asked);

} // namespace trainyard
