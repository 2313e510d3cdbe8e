#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The errors that the model has reached on the built-in rows (resources/validation/reached.json, written by
// scripts/validation), so that a test can tell when one gets worse. Values.

#include "core/evaluation/validation/statistics.h"

namespace trainyard {

struct ReachedFigure { // of the rows of one source, group and role that count
    std::string source, group, metric;
    RowRole role = RowRole::Test;
    RowStatus status = RowStatus::Gated;
    int n = 0, failed = 0; // rows with and without a prediction
    double meanAbs = 0;
    std::optional<double> rankCorrelation;
};

[[nodiscard]] std::vector<ReachedFigure> reachedFigures(std::span<const ValidationResult> results);
[[nodiscard]] ExpectedAll<std::vector<ReachedFigure>> parseReached(std::string_view json, const std::string &fileName);
[[nodiscard]] std::string reachedJson(std::span<const ReachedFigure> figures);

/// What got worse since `recorded`, one sentence each: larger errors or a lower rank correlation beyond the slack for
/// rounding, rows that fail or are gone, figures that are gone.
[[nodiscard]] std::vector<std::string> worseThan(
    std::span<const ReachedFigure> recorded, std::span<const ReachedFigure> now);

} // namespace trainyard
