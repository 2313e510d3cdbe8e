#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Patterns of the bars of the timeline, of the plan's work and of what was measured. Pure functions.

#include "core/engine/timeline/work.h"

#include <cstdint>

namespace trainyard {

/// A second channel beside colour, so that kinds stay apart for every eye and in grey print.
enum class FillPattern : std::uint8_t { Plain, Hatch, BackHatch, Dots, Lines };
[[nodiscard]] FillPattern fillPattern(WorkKind kind);
/// True where the pattern inks that pixel.
[[nodiscard]] bool patternInks(FillPattern pattern, int x, int y);

} // namespace trainyard
