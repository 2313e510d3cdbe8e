#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a search found, for people and for programs. Pure functions.

#include "core/search/search.h"

#include <string>

namespace trainyard {

/// The summary; the best plans, each by what it changes, with value, time, money and fill; what was left out and why.
[[nodiscard]] std::string searchTable(const SearchResult &result);
/// The same as JSON: names as the command line's page tells them.
[[nodiscard]] std::string searchJson(const SearchResult &result);

/// What differs from the plan that was asked about, one sentence a change; "as it is" where nothing does.
[[nodiscard]] std::vector<std::string> changesOf(const SearchResult &result, std::size_t row);
/// "throughput", "USD per million tokens": what the value of a row is.
[[nodiscard]] const char *valueName(Objective objective);

} // namespace trainyard
