#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a Prometheus server is asked, as targets of its HTTP API. Selectors are asked for their samples as they were
// scraped (a range vector at one instant: the scraper's own times, nothing repeated over gaps); other expressions for
// their values at even steps, in pieces below the server's limit of 11,000 points a series. Pure functions.

#include "core/runs/telemetry/recording.h"

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::live::prometheus {

/// "up{job="x"}", "{__name__=~"DCGM.*"}": a name, matchers in braces, or both, and nothing else.
[[nodiscard]] bool isSelector(std::string_view query);

/// All metrics that this program has a name for, as exporters call them, under their names of before and since
/// DCGM 4.6, network counters too.
[[nodiscard]] const std::vector<std::string> &knownMetrics();
/// A selector of those of them that a server has, and of `up`; empty where it has none of them.
[[nodiscard]] std::string selectorOf(const std::vector<std::string> &names);

struct Window { // from < t <= to
    /// Unix ns
    Moment from = 0, to = 0;
    bool operator==(const Window &) const = default;
};
/// The next piece of what is wanted: at most `most` seconds from its beginning.
[[nodiscard]] Window firstPiece(const Window &wanted, double most);

/// Seconds that one ask may cover.
[[nodiscard]] double longestPiece(bool isSelector, double stepSeconds);
/// "/api/v1/query?query=up%5B300000ms%5D&time=1795225508.123" or query_range.
[[nodiscard]] std::string targetOf(std::string_view query, const Window &window, double stepSeconds);

[[nodiscard]] std::string percentEncoded(std::string_view text);

} // namespace trainyard::live::prometheus
