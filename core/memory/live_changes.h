#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a replay of offloaded activations is made of: changes of what a GPU holds, and their sum over time. Internal to
// core/memory.

#include "core/memory/offload_replay.h"

#include <vector>

namespace trainyard {

/// At one instant what ends comes before what begins.
enum class ChangeOrder : std::uint8_t { Ends, Begins, Runs };

struct LiveChange {
    Nanoseconds time = 0;
    ChangeOrder order = ChangeOrder::Begins;
    double activations = 0, ends = 0, loss = 0, forWeightGrads = 0, inFlight = 0;
    double offloaded = 0;               // outside the GPU
    double discarded = 0;               // thrown away, to be computed again
    const Workspace *workspace = nullptr;   // of the operation that starts (Runs) or ends (Ends)
};

/// What exists beside the kept tensors while the backward of a segment runs. What the operations before it have freed of
/// the chunk is no longer counted, so only the segment's own part is taken off.
[[nodiscard]] Workspace workspaceOf(const ChunkMemory &chunk, const SegmentBytes &segment, bool isSpared);

/// Steps, peaks and the fullest moment of the changes, which it puts in order.
void addUp(std::vector<LiveChange> &changes, LiveOverTime &result);

} // namespace trainyard
