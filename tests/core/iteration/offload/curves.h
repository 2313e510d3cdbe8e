#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What to ask of a curve of memory.

#include "core/iteration/memory/live_memory.h"

#include <algorithm>
#include <iterator>

namespace offload {

/// From that instant on, after everything that happens there.
inline std::int64_t bytesAt(const std::vector<trainyard::MemoryStep> &curve, trainyard::Nanoseconds time)
{
    return std::prev(std::ranges::upper_bound(curve, time, {}, &trainyard::MemoryStep::time))->bytes;
}

/// Of a stage where something leaves, or nothing: less is held than if everything had stayed, and nothing in the end.
inline bool holdsLessAndNothingInTheEnd(const trainyard::LiveOverTime &live)
{
    const auto isLess = [&](const trainyard::MemoryStep &step) {
        return step.bytes >= 0 && (live.whole.empty() || step.bytes <= bytesAt(live.whole, step.time));
    };
    return live.peak <= live.peakWhole * (1 + 1e-12) && std::ranges::all_of(live.gpu, isLess)
        && live.gpu.back().bytes == 0 && (live.whole.empty() || live.whole.back().bytes == 0);
}

} // namespace offload
