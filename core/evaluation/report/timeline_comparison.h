#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Two plans as one self-contained HTML page (no script, no font, no picture from elsewhere): their timelines under one
// time axis with the difference below, what differs span by span or place by place, their metrics, and the plans in
// words. The same input gives the same bytes.

#include "core/evaluation/difference/timeline_difference.h"
#include "core/evaluation/report/comparison.h"

#include <string>

namespace trainyard {

/// `window`: the part of the iterations that is drawn and compared; metrics are those of the whole iterations.
[[nodiscard]] std::string timelineComparison(
    const NamedEvaluation &before, const NamedEvaluation &after, const TimeWindow &window = {});

} // namespace trainyard
