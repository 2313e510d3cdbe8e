#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The time axis that pictures of timelines have in common, so that one stands under another; for the .cpp files of this
// folder.

#include "core/evaluation/difference/timeline_difference.h"
#include "core/evaluation/report/markup.h"

#include <string>

namespace trainyard {

/// widths, in units of the picture
inline constexpr double kTrackLabels = 170, kTrackPlot = markup::kSvgWidth - kTrackLabels;
/// height of the axis, above the rows
inline constexpr double kAxis = 24;
/// width of a merged column
inline constexpr double kColumn = 2;

/// Ticks at 1, 2 or 5 times a power of ten, about ten of them, with lines down to `height`. `isLong`: in the unit that
/// suits a window of hours or days.
[[nodiscard]] std::string timeAxis(const TimeWindow &window, double height, bool isLong);

} // namespace trainyard
