#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What one validation run found, as every view reads it: rows, results, summaries, gates, and what was left out.
// Made by ValidationRunner on its thread; an immutable value from then on.

#include "core/evaluation/validation/validation_report.h"

#include <QString>

#include <memory>

namespace trainyard {

struct ValidatedRows {
    /// of the user's own rows; empty: the built-in ones
    QString file;
    std::vector<RowSet> sets;
    Validation validation;
    std::vector<LeftOutRow> leftOut;
    /// that the run took
    double seconds = 0;

    [[nodiscard]] const std::vector<ValidationResult> &results() const { return validation.run.results; }
};

using ValidatedRowsPtr = std::shared_ptr<const ValidatedRows>;

/// The kinds of figures that share an axis.
enum class FigureKind : std::uint8_t { Time, Throughput, Memory, Share, Other };
inline constexpr int kFigureKinds = 5;
[[nodiscard]] FigureKind kindOfFigure(const std::string &metric);

/// Place of a source among the sets, which its colour follows; -1 where there is none of this name.
[[nodiscard]] int sourceIndex(const ValidatedRows &rows, const std::string &source);

/// The plan of a result, named after its row; null where the row is not in the sets.
[[nodiscard]] PlanPtr planOf(const ValidatedRows &rows, const ValidationResult &result);

/// Which results are listed and drawn.
struct RowFilter {
    /// empty: all
    std::string source;
    /// every word of it occurs in source, group, row, metric, note or problem
    QString text;
    bool operator==(const RowFilter &) const = default;
};
[[nodiscard]] bool isListed(const ValidationResult &result, const RowFilter &filter);

/// "1,893 figures of 17 sources in 3.2 s · 11 of 13 gates met · half within 6.4 %, nine in ten within 21 %". The shares
/// are of all figures with a prediction.
[[nodiscard]] QString overviewText(const ValidatedRows &rows);

} // namespace trainyard
