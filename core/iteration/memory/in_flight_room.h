#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What memory leaves to a schedule that may choose: how many micro-batches each stage has room for, before any order of
// them is known. On the safe side of the walk that counts a finished order.

#include "core/iteration/memory/chunk_memory.h"

#include <algorithm>
#include <span>
#include <vector>

namespace trainyard {

/// The most that micro-batches can hold on a GPU of a stage, whatever their order: never less than a walk finds, and as
/// much where the warm-up ends with all of them in flight (1f1b, gpipe). Bytes.
struct LiveBound {
    /// of a micro-batch, from its forward on
    double each = 0;
    /// of it, what waits for its weight gradient
    double forWeightGrads = 0;
    double loss = 0;
    /// more of one that is not recomputed
    double whole = 0;
    /// beside them, at the worst operation
    double workspace = 0;
    /// `whole`: those of them that are not recomputed.
    [[nodiscard]] double of(double inFlight, double wholeOnes) const
    {
        return inFlight * (std::max(each, forWeightGrads) + loss) + wholeOnes * whole + workspace;
    }
};
[[nodiscard]] LiveBound liveBound(std::span<const ChunkMemory> chunks, bool splitsBackward);

struct InFlightRoom {
    /// per stage, 0 where not even one fits
    std::vector<int> microBatches;
    /// of a micro-batch, the share that waits for its weight gradient; at most 1
    double keptForWeightGrad = 1;
};

/// What work-conserving stages may fill: beyond this share running out of memory is likely.
inline constexpr double kWorkConservingShare = 0.95;

/// Bytes for micro-batches on the smallest GPU that serves the stage, in `share` of it: less states, context and
/// buffers.
[[nodiscard]] double roomForMicroBatches(const Workload &workload, int stage, double share);

/// In `share` of each GPU's memory. Not for a profile, which has no memory.
[[nodiscard]] InFlightRoom inFlightRoom(const Workload &workload, double share = 1);

} // namespace trainyard
