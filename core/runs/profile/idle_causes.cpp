// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/profile/idle_causes.h"

#include "core/runs/profile/gpu_work.h"

#include <algorithm>

namespace trainyard {

namespace {

IdleTime idleOf(const RankRecording &rank, const std::vector<std::uint32_t> &streams, const IdleOptions &options)
{
    IdleTime made { .stream = streams.size() == 1 ? streams.front() : kNoIndex };
    Moment ended = 0; // of all so far
    eachWorkInOrder(rank, streams, [&](const GpuWork &work) {
        if (made.works == 0)
            ended = work.start;
        ++made.works;
        const bool isTold = work.launchedAt != kNoMoment;
        made.launchesTold += isTold;
        if (const std::int64_t gap = work.start - ended; gap > 0) {
            std::int64_t &cause = isTold && work.launchedAt > ended ? made.idle.hostWait
                : gap < options.kernelDelay                         ? made.idle.kernelWait
                                                                    : made.idle.other;
            cause += gap;
        }
        made.busy += std::max<std::int64_t>(0, work.end - std::max(ended, work.start));
        ended = std::max(ended, work.end);
    });
    return made;
}

} // namespace

std::vector<RankIdle> idleByCause(const Recording &recording, const IdleOptions &options)
{
    std::vector<RankIdle> result;
    for (std::uint32_t r = 0; r < recording.ranks.size(); ++r) {
        const RankRecording &rank = recording.ranks[r];
        RankIdle &made = result.emplace_back();
        made.rank = r;
        made.reason = whyNoGpuTimes(recording, rank);
        if (!made.reason.empty())
            continue;
        const std::vector<std::uint32_t> streams = gpuStreamsOf(rank);
        made.whole = idleOf(rank, streams, options);
        made.whole.stream = kNoIndex;
        for (const std::uint32_t stream : streams)
            made.streams.push_back(idleOf(rank, { stream }, options));
    }
    return result;
}

} // namespace trainyard
