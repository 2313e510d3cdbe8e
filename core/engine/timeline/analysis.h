#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Questions to a finished timeline: where the seconds went, what the critical path is, how busy the devices were.
// Pure functions; the views and the command line share them.

#include "core/engine/timeline/timeline.h"

#include <array>
#include <vector>

namespace trainyard {

/// Nanoseconds of one iteration on one stage, by what they were spent on. They add up to the iteration exactly.
struct StageTime {
    /// whole spans of forward, backward, recompute; their communication is taken out later
    Nanoseconds compute = 0;
    /// waiting, not for a transfer
    Nanoseconds bubble = 0;
    /// waiting for a WAN transfer (queueing on the channel and latency included)
    Nanoseconds wan = 0;
    /// waiting for a local boundary transfer
    Nanoseconds pipeline = 0;
    /// gradient reduction or parameter gather that nothing hides
    Nanoseconds reduce = 0;
    /// spans of the update
    Nanoseconds optimizer = 0;
    /// host work at the end of the iteration
    Nanoseconds overhead = 0;
    /// waiting for a load or store
    Nanoseconds offload = 0;
};

/// Of each compute track, in track order. A gap before a span is attributed to the transfer awaited from the moment
/// that the transfer became ready; before that, and where nothing was awaited, it is a bubble.
[[nodiscard]] std::vector<StageTime> stageTimes(const Timeline &timeline);

/// Spans of the critical path, first to last, by following `cause` from the last end.
[[nodiscard]] std::vector<std::uint32_t> criticalPath(const Timeline &timeline);

/// Share of each of `buckets` equal slices of the iteration that a track spends in spans accepted by `accept`; 0..1.
[[nodiscard]] std::vector<double> utilization(
    const Timeline &timeline, std::uint32_t track, int buckets, bool (*accept)(WorkKind));

/// Of the spans of one kind: the table of an area selection.
struct KindTotal {
    std::uint32_t count = 0;
    Nanoseconds total = 0, shortest = 0, longest = 0;
};

/// Span of a track at time t, or kNoSpan. O(log n).
[[nodiscard]] std::uint32_t spanAt(const Timeline &timeline, std::uint32_t track, Nanoseconds t);
/// First span of a track that ends after t (t's span or the next), or the track's last. O(log n).
[[nodiscard]] std::uint32_t firstSpanAfter(const Timeline &timeline, std::uint32_t track, Nanoseconds t);

} // namespace trainyard
