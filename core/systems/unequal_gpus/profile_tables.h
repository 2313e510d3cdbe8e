#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Tables by micro-batch (1, 2, …) from the few points or the line that a measurement gives. Pure functions.

#include <vector>

namespace trainyard {

/// slope · m + intercept for m = 1 … size.
[[nodiscard]] std::vector<double> lineTable(double slope, double intercept, int size);

/// What was measured, and behind it slope · m + intercept: how the released optimiser of Cephalo reads times.
[[nodiscard]] std::vector<double> extendedByLine(
    std::vector<double> measured, double slope, double intercept, int size);

/// What was measured, continued by the mean slope of its last five points at most: how the released optimiser of
/// Cephalo reads memory. One point continues flat, none is empty.
[[nodiscard]] std::vector<double> extrapolated(std::vector<double> measured, int size);

} // namespace trainyard
