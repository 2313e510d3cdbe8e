#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A file of rows, read: the sweep that its head says and a column a metric, as numbers. Of a sweep that is not done,
// the rows that are there. Immutable, any thread.

#include "core/planner/sweep/sweep_lines.h"

#include <memory>
#include <stop_token>

namespace trainyard {

enum class SweepState : std::uint8_t { Feasible, Infeasible, Refused };

struct SweepTable {
    std::string path;
    SweepSpec spec;
    /// names
    std::vector<std::string> metrics;
    /// [metric][row]; NaN: does not apply
    std::vector<std::vector<double>> values;
    /// [row]
    std::vector<SweepState> states;
    /// [row]: index into reasons
    std::vector<std::uint32_t> reasonOf;
    /// the first is empty
    std::vector<std::string> reasons;

    [[nodiscard]] std::size_t rows() const { return states.size(); }
    [[nodiscard]] bool isDone() const { return rows() == spec.rows(); }
    [[nodiscard]] const std::string &reason(std::size_t row) const { return reasons[reasonOf[row]]; }
    /// Of a name; nullptr where the file has none.
    [[nodiscard]] const std::vector<double> *metric(std::string_view name) const;
    /// The plan of a row. Errors: values that contradict each other.
    [[nodiscard]] ExpectedAll<PlanPtr> plan(std::size_t row) const;
};
using SweepTablePtr = std::shared_ptr<const SweepTable>;

inline constexpr std::size_t kMostTableRows = 2'000'000;

/// Errors: cannot be read; no file of a sweep; a line that is no row, with its number; more rows than kMostTableRows;
/// Cancelled.
[[nodiscard]] ExpectedAll<SweepTablePtr> readSweepTable(const std::string &path, const std::stop_token &stop = {});
/// Whether its first bytes are those of a sweep.
[[nodiscard]] bool isSweepFile(const std::string &path);

} // namespace trainyard
