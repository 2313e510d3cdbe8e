#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Many plans evaluated, one a row: every combination of values of some keys, or so many drawn from them. Rows are
// numbered, independent and exact, so that threads, processes and machines may work on them in any order and the file
// is the same: rows stand in the order of their numbers. A file that a killed sweep left is valid up to its last line
// and is gone on with (resume).

#include "core/evaluate/run.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace trainyard {

struct SweepAxis {
    std::string key; // dotted, as --set takes it
    std::vector<std::string> values; // each JSON, else a text
};

struct SweepSpec {
    PlanPtr plan;
    std::vector<SweepAxis> vary; // the last varies fastest
    std::uint64_t random = 0; // so many drawn instead of all; 0: all
    std::uint64_t seed = 1;

    [[nodiscard]] std::uint64_t rows() const;
    /// Values of a row, one an axis. The same for the same seed on every machine.
    [[nodiscard]] std::vector<std::string> values(std::uint64_t row) const;
    /// Of plan, keys, values, number and seed: a file goes on only with its own sweep.
    [[nodiscard]] std::string fingerprint() const;
};

/// "KEY=V1,V2,…"; brackets and quotes keep their commas. "KEY=1..16:*2" and "KEY=10..100:+10" are ranges.
[[nodiscard]] Expected<SweepAxis> parseVary(std::string_view text);
/// Errors: unknown keys with the nearest known one, values that no plan can have, more rows than kMostRows.
[[nodiscard]] Errors checkSweep(const SweepSpec &spec);
inline constexpr std::uint64_t kMostSweepRows = 100'000'000;

struct SweepRow {
    std::uint64_t number = 0;
    std::vector<std::string> values;
    std::string state; // "feasible", "infeasible", "refused"
    std::string reason; // of what is not feasible, one line
    std::vector<std::pair<std::string, Metric>> metrics; // in a fixed order, names of docs/metrics.md
};

/// One row, evaluated. Any thread, with its own workspace. A plan that is refused is a row, not an error.
[[nodiscard]] SweepRow sweepRow(
    const SweepSpec &spec, std::uint64_t row, const Catalogue &catalogue, EvaluationWorkspace &workspace);

} // namespace trainyard
