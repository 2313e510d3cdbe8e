#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Whether the ranges of the confidence label hold: on rows of publications that the ranges were read without. Pure
// functions of values.

#include "core/evaluation/validation/run.h"

#include <span>

namespace trainyard {

struct Coverage {
    int rows = 0, publications = 0;
    /// share of the rows whose measured time lay in the range
    double inside = 0;
    /// the same with every publication weighing alike
    double insideAlike = 0;
    /// interval score, mean over rows and over publications; lower is better
    double score = 0, scoreAlike = 0;
};

struct LabelCoverage {
    ConfidenceLabel label = ConfidenceLabel::Extrapolated;
    /// rows whose inputs were all published
    Coverage all;
    /// of these, rows that no parameter was fitted to
    Coverage test;
    /// rows with an assumed input: no range is ever read from them
    Coverage guessed;
};

/// Of a range in ln of measured / predicted at nine tenths: its width, and twenty times what the error lies outside by
/// (Winkler, 1972; Gneiting and Raftery, 2007, equation 43).
[[nodiscard]] double intervalScore(double error, const TimeRange &range);

/// Every publication of `counted` gets its labels and ranges from the rows of `evidence` that are of another
/// publication. One entry for each label that occurs. `unmeasured`: the rows of `evidence` by withoutMeasuredKernels();
/// those of the counted sources are rows of the spec sheet. May be empty.
[[nodiscard]] std::vector<LabelCoverage> heldOutCoverage(std::span<const ValidationResult> counted,
    std::span<const ValidationResult> evidence, std::span<const ValidationResult> unmeasured = {});

/// Of rows that are in nobody's evidence: by the labels and ranges that the program gives.
[[nodiscard]] std::vector<LabelCoverage> coverageOfOwn(
    std::span<const ValidationResult> counted, const ConfidenceData &data);

enum class RowsOrigin : std::uint8_t { Builtin, SomeBuiltin, Own };
/// The one that fits a run; the built-in rows are run as far as that needs them. Empty where a run was stopped.
[[nodiscard]] std::vector<LabelCoverage> coverageOf(
    const ValidationRun &run, RowsOrigin origin, const Catalogue &catalogue, const std::stop_token &stop = {});

} // namespace trainyard
