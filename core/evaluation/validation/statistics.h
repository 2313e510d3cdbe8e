#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Errors of many rows in few numbers. Errors are fractions, predicted / published - 1. Pure functions of values.

#include "core/evaluation/validation/run.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trainyard {

struct ErrorStatistics {
    /// rows with a prediction; the errors are 0 where there is none
    int n = 0;
    double meanAbs = 0, medianAbs = 0, maxAbs = 0;
    /// mean of the signed errors: positive where the model says too much
    double bias = 0;
    std::optional<double> rankCorrelation;
};

struct MetricSummary {
    std::string metric;
    /// rows whose inputs are all published
    ErrorStatistics gated;
    /// the gated rows, by what they were used for
    ErrorStatistics fit, test;
    /// rows with an assumed input: reported apart
    ErrorStatistics guessed;
    /// gated rows without a prediction
    int failed = 0;
};

/// Runs whose time was published, so that they did fit in memory, and those of them that the model holds for too large.
struct FitJudgement {
    int ran = 0, judgedTooLarge = 0;
    bool operator==(const FitJudgement &) const = default;
};

struct SourceSummary {
    std::string source, title, url, note;
    /// of summariseGroups()
    std::string group;
    int rows = 0;
    FitJudgement fit;
    std::vector<MetricSummary> metrics;
};

/// Spearman's rho: correlation of the ranks, tied values sharing the mean of theirs. Empty for fewer than two pairs, or
/// where one side is all equal.
[[nodiscard]] std::optional<double> rankCorrelation(std::span<const double> a, std::span<const double> b);

/// Over the results that have a prediction.
[[nodiscard]] ErrorStatistics errorStatistics(std::span<const ValidationResult *const> results);

/// A row counts once, however many of its figures were published.
[[nodiscard]] FitJudgement fitJudgement(std::span<const ValidationResult *const> results);

/// One summary a source, in the order of their first result.
[[nodiscard]] std::vector<SourceSummary> summarise(
    std::span<const RowSet> sets, std::span<const ValidationResult> results);
/// One summary a group of a source.
[[nodiscard]] std::vector<SourceSummary> summariseGroups(
    std::span<const ValidationResult> results, std::string_view source);

} // namespace trainyard
