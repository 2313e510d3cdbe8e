// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/profile/gpu_work.h"

namespace trainyard {

GpuWork gpuWorkOf(const RankRecording &rank, std::uint32_t stream, std::uint32_t span)
{
    const RecordedSpans &spans = rank.streams[stream].spans;
    return { stream, span, spans.start[span], spans.start[span] + spans.duration[span],
        span < spans.launchedAt.size() ? spans.launchedAt[span] : kNoMoment };
}

std::optional<std::uint32_t> workFrom(const RecordedSpans &spans, std::size_t span)
{
    while (span < spans.size() && !isGpuWork(spans.work[span]))
        ++span;
    return span < spans.size() ? std::optional(static_cast<std::uint32_t>(span)) : std::nullopt;
}

std::vector<std::uint32_t> gpuStreamsOf(const RankRecording &rank)
{
    std::vector<std::uint32_t> streams;
    for (std::uint32_t s = 0; s < rank.streams.size(); ++s)
        if (rank.streams[s].isGpu && workFrom(rank.streams[s].spans, 0))
            streams.push_back(s);
    return streams;
}

std::string whyNoGpuTimes(const Recording &recording, const RankRecording &rank)
{
    if (rank.source < recording.sources.size()
        && recording.sources[rank.source].kind == SourceKind::ChakraTrace) // its nodes stand one after the other
        return "its nodes have no times that can be compared";
    return gpuStreamsOf(rank).empty() ? "there is no kernel of a GPU in it" : "";
}

} // namespace trainyard
