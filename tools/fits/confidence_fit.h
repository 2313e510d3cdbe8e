#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// From the errors of validated rows to resources/catalog/confidence.json: what was measured, and how far a measured
// time lies from the model's, by label. Pure functions of values.

#include "core/evaluation/validation/run.h"
#include "core/facts/catalogue/catalogue.h"

#include <span>
#include <string>

namespace trainyard {

/// Ranges from rows whose inputs were all published. `unmeasured`: the same rows by withoutMeasuredKernels(); they give
/// the range of the spec sheet, which stays without one where they are missing.
[[nodiscard]] ConfidenceData confidenceData(
    std::span<const ValidationResult> results, std::span<const ValidationResult> unmeasured = {});

/// The file's text. `date`: "2026-11".
[[nodiscard]] std::string confidenceJson(const ConfidenceData &data, const std::string &date);

} // namespace trainyard
