#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Factors that a recording taught, in words: what they are about, their value with its error, what they rest on. One
// wording for the page of a run, the undo list and the confidence label. Pure functions.

#include "core/facts/plan/calibration.h"

#include <QString>

namespace trainyard {

class Catalogue;

/// "Products of H100 SXM", "Fabric of Virginia", "WAN between Oregon and Iowa", "Host".
[[nodiscard]] QString subjectOf(const CalibrationFactor &factor, const Plan &plan, const Catalogue &catalogue);
/// "× 1.17 ± 0.02", "42.1 GB/s ± 0.8, 12 µs ± 0.3 µs".
[[nodiscard]] QString valueText(const CalibrationFactor &factor);
/// The value without its error: "× 1.17", "42.1 GB/s, 12 µs".
[[nodiscard]] QString shortValueText(const CalibrationFactor &factor);
/// "4,032 samples, R² 0.998": what is known of it.
[[nodiscard]] QString basisText(const CalibrationFactor &factor);
/// "14 % → 3.1 %" of steps that were held out; empty where none were.
[[nodiscard]] QString errorsText(const CalibrationFactor &factor);
/// What the part stands for, in a sentence.
[[nodiscard]] QString meaningOf(CalibratedPart part);

/// Edits in words: "Take products of H100 SXM × 1.17 from march run".
[[nodiscard]] QString takeText(const CalibrationFactor &factor, const Plan &plan, const Catalogue &catalogue);
[[nodiscard]] QString removeText(const CalibrationFactor &factor, const Plan &plan, const Catalogue &catalogue);

} // namespace trainyard
