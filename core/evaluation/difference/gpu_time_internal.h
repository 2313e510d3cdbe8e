#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// GPU time of two evaluations by place, stream and kind of work.

#include "core/evaluation/difference/lanes_internal.h"

namespace trainyard::difference {

/// As TimelineDifference::gpuTime has it. The lanes are those of the two timelines.
[[nodiscard]] std::vector<GpuTimeDifference> gpuTimes(const Evaluation &before, const std::vector<Lane> &lanesBefore,
    const Evaluation &after, const std::vector<Lane> &lanesAfter, bool byDatacenter, const TimeWindow &window);

/// What neither is negative: the largest number where the sum is beyond it.
[[nodiscard]] constexpr GpuNanoseconds stoppedSum(GpuNanoseconds a, GpuNanoseconds b)
{
    GpuNanoseconds sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<GpuNanoseconds>::max() : sum;
}

} // namespace trainyard::difference
