#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Spans of two evaluations of one shape, matched.

#include "core/evaluation/difference/lanes_internal.h"

namespace trainyard::difference {

/// As TimelineDifference::spans has them. The lanes are those of the two timelines.
[[nodiscard]] std::vector<SpanDifference> matchedSpans(const Evaluation &before, const std::vector<Lane> &lanesBefore,
    const Evaluation &after, const std::vector<Lane> &lanesAfter, const TimeWindow &window);

} // namespace trainyard::difference
