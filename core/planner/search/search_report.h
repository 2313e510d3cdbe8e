#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a search found, for people and for programs. Pure functions.

#include "core/planner/search/idle_nodes.h"
#include "core/planner/search/search.h"

#include <string>

namespace trainyard {

/// The best plan as it was written to a file: as evaluate() of that file will tell it.
struct WrittenPlan {
    std::string path;
    /// of its cluster
    int gpus = 0, gpusUsed = 0;
    /// idle GPUs that its cluster no longer has
    int dropped = 0;
    /// of those in idle nodes that it has to keep; others idle in nodes that are used in part
    int kept = 0;
    /// idle nodes were to be dropped
    bool isTrimmed = false;
    /// of all of its GPUs
    double usdPerHour = 0, usdPerMillionTokens = 0;
    std::vector<std::string>
        notLaunched; // why no launcher starts it as it is, a key and a sentence each; empty: one does
};
[[nodiscard]] WrittenPlan writtenPlan(const std::string &path, const Trimmed &made, const Catalogue &catalogue);

/// The summary; the best plans, each by what it changes, with value, time, money and fill; what was left out and why.
[[nodiscard]] std::string searchTable(const SearchResult &result, const WrittenPlan *written = nullptr);
/// The same as JSON: names as the command line's page tells them. `rows`: so many of those that were looked at.
[[nodiscard]] std::string searchJson(
    const SearchResult &result, const WrittenPlan *written = nullptr, std::size_t rows = 0);

/// What differs from the plan that was asked about, one sentence a change; empty where nothing does.
[[nodiscard]] std::vector<std::string> changesOf(const SearchResult &result, std::size_t row);
/// The same of each of several rows; of two that would read alike, also the axes in which they differ.
[[nodiscard]] std::vector<std::vector<std::string>> changesOf(
    const SearchResult &result, const std::vector<std::size_t> &rows);
/// The world where the value of a row is the worst, or for which it is out; empty where there is one world.
[[nodiscard]] std::string worstWorld(const SearchResult &result, const SearchRow &row);
/// "seconds_per_token": what the value of a row is.
[[nodiscard]] const char *valueName(Objective objective);

} // namespace trainyard
