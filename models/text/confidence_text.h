#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How far an iteration time is to be trusted, in words: one wording for strip, status line and problems. Pure
// functions.

#include "core/evaluation/evaluate/evaluation.h"

#include <QString>

namespace trainyard {

/// "1.31 to 1.55 s": one unit for both ends where they share it. Empty where there is no range.
[[nodiscard]] QString rangeText(const Confidence &confidence);
/// "1.42 s, 1.31 to 1.55 s, calibrated"; of jobs "18.0 s, calibrated", the time of all; what is unknown is left out.
[[nodiscard]] QString confidenceText(const Metrics &metrics);
/// What a label means, in one sentence; empty for an unknown one.
[[nodiscard]] QString meaningOf(const std::string &label);
/// The meaning, how many published rows make the label and what would narrow it: for a tooltip. `rows` 0: nothing is
/// said of them.
[[nodiscard]] QString basisText(const Confidence &confidence, int rows);
/// From 3, calibrated, to 0, spec sheet and unknown labels.
[[nodiscard]] int trustLevel(const std::string &label);

} // namespace trainyard
