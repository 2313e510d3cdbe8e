#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// An effect in two or three words and the ink to write them in: "−2.1 %", "84 GB, does not fit". Pure functions.

#include "models/effects.h"
#include "views/panels/text_line.h"

namespace trainyard {

struct EffectText {
    QString text;
    Ink ink = Ink::Muted;
};

/// In a list, beside the value it belongs to.
[[nodiscard]] EffectText effectText(const Effect &effect);
/// Beside a control, naming the value: "ZB-H1 −2.1 %", "2: does not fit".
[[nodiscard]] EffectText effectText(const Effect &effect, const QString &value);
/// Of what fills idle time: "+47 pt use", the points of GPU utilization that it adds.
[[nodiscard]] EffectText utilizationText(const Effect &effect, std::optional<double> utilizationNow);
/// Of what frees memory: "−12.3 GB +4.5 %", what the fullest GPU holds more or less, and the iteration.
[[nodiscard]] EffectText memoryText(const Effect &effect, double bytesNow);
/// The whole story, for a tooltip: "Iteration 11.8 s → 11.6 s. Fullest GPU 71 of 80 GB."
[[nodiscard]] QString effectSentence(const Effect &effect, std::optional<double> iterationNow);
/// "GPUs at work 45 % → 92 %."; empty where either is unknown.
[[nodiscard]] QString utilizationSentence(const Effect &effect, std::optional<double> utilizationNow);

/// Changes smaller than this share are written as "±0".
inline constexpr double kNoChange = 0.0005;

} // namespace trainyard
