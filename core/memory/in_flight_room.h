#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What memory leaves to a schedule that may choose: how many micro-batches each stage has room for, before any order of
// them is known. On the safe side of the walk that counts a finished order.

#include "core/memory/chunk_memory.h"

#include <algorithm>
#include <vector>

namespace trainyard {

struct InFlightRoom {
    std::vector<int> microBatches;     // per stage, 0 where not even one fits
    double keptForWeightGrad = 1;      // of a micro-batch, the share that waits for its weight gradient; at most 1
};

/// What work-conserving stages may fill: beyond this share running out of memory is likely.
inline constexpr double kWorkConservingShare = 0.95;

/// Bytes for micro-batches on the smallest GPU that serves the stage, in `share` of it: less states, context and buffers.
[[nodiscard]] double roomForMicroBatches(const Workload &workload, int stage, double share);

/// In `share` of each GPU's memory. Not for a profile, which has no memory.
[[nodiscard]] InFlightRoom inFlightRoom(const Workload &workload, double share = 1);

} // namespace trainyard
