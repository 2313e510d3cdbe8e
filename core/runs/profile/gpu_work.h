#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the streams of a rank's GPU did, in order of start over all of them, without a copy of the spans: the way that
// the tables of this room walk a recording. Annotations and waits of the host are no work. Any thread.

#include "core/runs/overlay/span_index.h"

#include <limits>
#include <optional>

namespace trainyard {

/// A kernel or a copy of a rank's GPU.
struct GpuWork {
    /// of RankRecording::streams
    std::uint32_t stream = kNoIndex;
    /// of the stream
    std::uint32_t span = 0;
    Moment start = 0, end = 0;
    /// start of the host's call, kNoMoment: not told
    Moment launchedAt = kNoMoment;
    bool operator==(const GpuWork &) const = default;
};

[[nodiscard]] GpuWork gpuWorkOf(const RankRecording &rank, std::uint32_t stream, std::uint32_t span);
/// Streams of a GPU that show work; annotations have streams of their own. In their order.
[[nodiscard]] std::vector<std::uint32_t> gpuStreamsOf(const RankRecording &rank);
/// The first work of the stream from that span on; empty: there is none.
[[nodiscard]] std::optional<std::uint32_t> workFrom(const RecordedSpans &spans, std::size_t span);

/// Calls `take` with the work of these streams in order of start, of equal starts the first stream first.
template <class Take>
void eachWorkInOrder(const RankRecording &rank, const std::vector<std::uint32_t> &streams, const Take &take)
{
    std::vector<std::optional<std::uint32_t>> next;
    for (const std::uint32_t stream : streams)
        next.push_back(workFrom(rank.streams[stream].spans, 0));
    for (;;) {
        std::size_t first = streams.size();
        Moment earliest = std::numeric_limits<Moment>::max();
        for (std::size_t i = 0; i < streams.size(); ++i)
            if (next[i] && (first == streams.size() || rank.streams[streams[i]].spans.start[*next[i]] < earliest)) {
                first = i;
                earliest = rank.streams[streams[i]].spans.start[*next[i]];
            }
        if (first == streams.size())
            return;
        take(gpuWorkOf(rank, streams[first], *next[first]));
        next[first] = workFrom(rank.streams[streams[first]].spans, *next[first] + std::size_t(1));
    }
}

/// Why nothing can be said of the times of a rank's GPU, in words; empty: they can be read.
[[nodiscard]] std::string whyNoGpuTimes(const Recording &recording, const RankRecording &rank);

} // namespace trainyard
