#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where two timelines differ as an inline SVG picture, under the axis of their Gantt charts: a row a stage (or GPU, or
// datacenter), bars upward where its GPUs are busier in the second, downward where they are less busy.

#include "core/evaluation/difference/timeline_difference.h"

#include <string>

namespace trainyard {

/// The window's ends are those of the axis. Empty where it is, or where neither has a timeline.
[[nodiscard]] std::string differenceSvg(const Evaluation &before, const Evaluation &after, const TimeWindow &window);

} // namespace trainyard
