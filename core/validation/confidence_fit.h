#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// From the errors of validated rows to resources/catalog/confidence.json: how far a measured time lay from the model's, by
// stack, GPU, precision, experts and network. Pure functions of values.

#include "core/catalogue/catalogue.h"
#include "core/validation/run.h"

#include <span>
#include <string>

namespace trainyard {

/// Spreads of all gated rows that measured time or a rate, nine tenths of them inside. Fit and test rows are judged apart
/// and the wider end counts, so that fitted rows cannot hide what the others show.
[[nodiscard]] ConfidenceData confidenceData(std::span<const ValidationResult> results, const Catalogue &catalogue);

/// The file's text. `date`: "2026-11".
[[nodiscard]] std::string confidenceJson(const ConfidenceData &data, const std::string &date);

} // namespace trainyard
