#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What goes to CBC and what comes back, as texts: the programme in free MPS, values to start with, the values and the
// log of an answer. Columns are called x0, x1, …, rows r0, …; numbers are written so that reading gives the same ones.

#include "core/base/solver/milp.h"

#include <optional>
#include <string_view>

namespace trainyard::detail {

/// Rows without terms or without sides are left out: they are no question for a solver. Expects isProgramme().
[[nodiscard]] std::string mpsText(const Milp &problem);
[[nodiscard]] std::string startText(const std::vector<double> &values, double cost);

/// Terms have columns, factors and costs are finite, bounds are numbers.
[[nodiscard]] bool isProgramme(const Milp &problem);

enum class CbcStatus : std::uint8_t { Optimal, Stopped, Infeasible, Unbounded };
struct CbcSolution {
    CbcStatus status = CbcStatus::Stopped;
    /// of all columns; those that have to be whole are
    std::vector<double> values;
};
/// Of a whole solution file; nothing where it is not one of `columns` columns.
[[nodiscard]] std::optional<CbcSolution> readSolution(std::string_view text, const Milp &problem);
/// The lower bound of a log, rounded down as far as the log may have rounded up; minus infinity where it has none.
[[nodiscard]] double readBound(std::string_view log);

} // namespace trainyard::detail
