#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A validation for people and programs: JSON with the names of docs/validation.md, CSV, a table for a terminal,
// Markdown. Pure functions of values; texts end in a newline.

#include "core/evaluation/validation/coverage.h"
#include "core/evaluation/validation/gates.h"

#include <string>

namespace trainyard {

struct Validation {
    ValidationRun run;
    std::vector<SourceSummary> sources;
    std::vector<GateOutcome> gates;
    /// of the confidence label's ranges; empty where nobody asked
    std::vector<LabelCoverage> coverage;
};

/// The run with its summaries and what it says of the gates.
[[nodiscard]] Validation summarised(std::span<const RowSet> sets, ValidationRun run, std::span<const Gate> gates,
    std::vector<LabelCoverage> coverage = {});

[[nodiscard]] std::string validationJson(const Validation &validation);
/// One line a published figure.
[[nodiscard]] std::string validationCsv(const Validation &validation);
/// Summary and gates; then every row, or only the rows that are furthest off.
[[nodiscard]] std::string validationTable(const Validation &validation, bool listsEveryRow);
/// The page docs/validation.md.
[[nodiscard]] std::string validationMarkdown(const Validation &validation, std::span<const LeftOutRow> leftOut);

/// "memory.per_stage[0].weights_bytes + gradients_bytes": what sums share is said once.
[[nodiscard]] std::string metricLabel(const std::string &metric);
/// "6 of 12 runs that ran are judged not to fit in memory"; empty where no run says so.
[[nodiscard]] std::string fitText(const FitJudgement &fit);
/// Of all sources together.
[[nodiscard]] FitJudgement fitOfAll(std::span<const SourceSummary> sources);
/// A value of a metric as people read it, with the unit that its name tells.
[[nodiscard]] std::string metricText(const std::string &metric, double value);
/// "+3.1 %"; a dash where there is none.
[[nodiscard]] std::string errorText(const std::optional<double> &error);
/// "0.93"; a dash where there is none.
[[nodiscard]] std::string rankText(const std::optional<double> &rank);
/// What a gate demands and has reached: "≤ 6 %", "3.1 %"; rank correlations as numbers.
[[nodiscard]] std::string limitText(const Gate &gate);
[[nodiscard]] std::string reachedText(const GateOutcome &outcome);
/// "met", "missed, 2 rows failed", "no rows"; of an aim or of rows with assumed inputs that it is one.
[[nodiscard]] std::string verdictText(const GateOutcome &outcome);
/// How the ranges were tried, in two sentences.
[[nodiscard]] std::string coverageIntroduction();
struct CoverageLine {
    /// "same family"; "all", "test" or "guessed"
    std::string label, rows;
    const Coverage *coverage = nullptr;
};
/// What a table shows of the coverage, in its order; lines without rows are left out.
[[nodiscard]] std::vector<CoverageLine> coverageLines(std::span<const LabelCoverage> coverage);
/// Title and which rows count: "Megatron-Bridge, dense, test rows".
[[nodiscard]] std::string gateText(const Gate &gate);

} // namespace trainyard
