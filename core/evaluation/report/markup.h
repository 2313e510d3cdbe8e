#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Small helpers for the pages that the report writes: escaping, coordinates, and the colour class of a kind of work.
// Colours themselves are in the style sheet (report_style.h), so that light and dark need one picture only.

#include "core/engine/timeline/timeline.h"

#include <string>
#include <string_view>

namespace trainyard::markup {

/// of all pictures of a page, in its own units
inline constexpr double kSvgWidth = 1160;

/// Text for HTML and SVG, attributes included.
[[nodiscard]] std::string escaped(std::string_view text);
/// A coordinate with at most two decimals, in any locale with a point.
[[nodiscard]] std::string coordinate(double value);
/// "k-forward", "k-gradient-sync": the style class of a kind of work.
[[nodiscard]] std::string workClass(WorkKind kind);
/// Jobs have as many colours, in turn; one more stands for what belongs to none.
inline constexpr std::size_t kJobLooks = 12;
/// "j-0" … "j-12" of a job by its place in the plan; below 0: of none.
[[nodiscard]] std::string jobClass(int job);
/// Whether light ink reads on it.
[[nodiscard]] bool isDarkJob(int job);
/// <rect> with a style class and, where it is not empty, a tooltip.
[[nodiscard]] std::string rect(
    double x, double y, double width, double height, std::string_view styleClass, std::string_view tooltip = {});
/// <text> at a baseline point.
[[nodiscard]] std::string text(double x, double y, std::string_view styleClass, std::string_view content);

} // namespace trainyard::markup
