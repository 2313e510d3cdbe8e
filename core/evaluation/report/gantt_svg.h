#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline as an inline SVG picture of bounded size: few spans become one rectangle each with a tooltip, many are
// merged column by column: a column is filled from below by the kinds of work in it, in proportion to their time. Of a
// plan with jobs each job has a colour in place of each kind.

#include "core/evaluation/difference/timeline_difference.h"

#include <string>

namespace trainyard {

/// `axis` is the time at the right edge, so that several charts can share a scale; at least timeline.duration.
[[nodiscard]] std::string ganttSvg(const Evaluation &evaluation, Nanoseconds axis);
/// The part of it that lies in the window, whose ends are those of the axis; empty where the window is.
[[nodiscard]] std::string ganttSvg(const Evaluation &evaluation, const TimeWindow &window);

} // namespace trainyard
