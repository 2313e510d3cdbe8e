// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/overlay/job_stages.h"

#include "core/overlay/span_index.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace trainyard {

namespace {

constexpr int kMostRanks = 1 << 24;

/// A positive number of the arguments under one of these names; 0: none.
template <std::size_t N> int argument(const Recording &recording, const std::array<const char *, N> &names)
{
    for (const char *name : names)
        if (const auto at = recording.arguments.find(name); at != recording.arguments.end()) {
            int number = 0;
            const char *end = at->second.data() + at->second.size();
            if (std::from_chars(at->second.data(), end, number).ptr == end && number > 0 && number <= kMostRanks)
                return number;
        }
    return 0;
}

} // namespace

int worldSizeOf(const Recording &recording)
{
    int size = 0;
    for (const RankRecording &rank : recording.ranks)
        size = std::max({ size, rank.worldSize, rank.rank + 1 > rank.worldSize ? rank.rank + 1 : 0 });
    return std::max(size, argument(recording, std::array { "world_size", "world-size" }));
}

StagesOfJob stagesOf(const Recording &recording, const SpanIndex &spans)
{
    static constexpr std::array kNames { "pipeline_model_parallel_size", "pipeline-model-parallel-size",
        "pipeline_parallel_degree", "parallelism.pipeline_parallel_degree", "experimental.pipeline_parallel_degree",
        "pipe_parallel_size", "pipe-parallel-size" };
    if (const int told = argument(recording, kNames); told > 0)
        return { told, true };
    if (spans.hasTransfers())
        return { 2 };
    if (spans.hasCollectives()) // stages would have sent to each other: no plan knows better
        return { 1, true };
    // Communication of which no collective is known may be a transfer
    return { spans.hasGpuWork() && !spans.hasCommunication() ? 1 : 0 };
}

} // namespace trainyard
