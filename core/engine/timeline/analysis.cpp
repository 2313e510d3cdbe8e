// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/analysis.h"

#include "core/engine/timeline/stage_booking.h"

#include <algorithm>

namespace trainyard {

namespace {

using Times = std::array<Nanoseconds, kTimeUseCount>;

Nanoseconds &of(Times &times, TimeUse use)
{
    return times[static_cast<std::size_t>(use)];
}

struct Sums {
    const Timeline &timeline;
    Times times {};
    Nanoseconds computing = 0;

    void wait(TimeUse use, Nanoseconds begin, Nanoseconds end, std::uint32_t, std::uint32_t)
    {
        of(times, use) += end - begin;
    }
    void work(std::uint32_t span)
    {
        const Nanoseconds length = timeline.end[span] - timeline.start[span];
        if (isTrainingCompute(timeline.kind[span])) // nearly all
            computing += length;
        else
            of(times, traitsOf(timeline.kind[span]).use) += length;
    }
};

StageTime stageTime(const Timeline &timeline, std::uint32_t track)
{
    Sums sums { timeline };
    bookStage(timeline, track, sums);
    Times &stage = sums.times;
    of(stage, TimeUse::Compute) += sums.computing;
    return { of(stage, TimeUse::Compute), of(stage, TimeUse::Bubble), of(stage, TimeUse::Wan),
        of(stage, TimeUse::Pipeline), of(stage, TimeUse::Reduce), of(stage, TimeUse::Optimizer),
        of(stage, TimeUse::Overhead), of(stage, TimeUse::Offload) };
}

} // namespace

BookedWait bookedWait(const Timeline &timeline, std::uint32_t span, std::uint32_t track)
{
    std::uint32_t cause = timeline.cause[span];
    if (cause == kNoSpan || timeline.trackOf[cause] == track)
        return { TimeUse::Bubble, timeline.start[span] };
    if (isTrainingCompute(timeline.kind[cause]))
        return { TimeUse::Pipeline, timeline.end[cause] }; // the lag of a local boundary: most waits of most pipelines
    // An exchange without duration (a gradient norm) passes on what it waited for itself; so do the pieces of a cell's
    // transfer, which are gathered for its sake.
    const auto passesOn = [&](std::uint32_t other) {
        if (traitsOf(timeline.kind[other]).waitsSince == WaitsSince::Cause)
            return timeline.cause[other] != kNoSpan;
        return timeline.tracks[timeline.trackOf[other]].stream == Stream::Collective
            && timeline.start[other] == timeline.end[other];
    };
    while (cause != kNoSpan && passesOn(cause))
        cause = timeline.cause[cause];
    if (cause == kNoSpan || timeline.trackOf[cause] == track)
        return { TimeUse::Bubble, timeline.start[span] };
    const WorkTraits &traits = traitsOf(timeline.kind[cause]);
    switch (traits.waitsSince) {
    case WaitsSince::Origin: {
        const std::uint32_t origin = timeline.origin.empty() ? kNoSpan : timeline.origin[cause];
        return { traits.use, origin == kNoSpan ? timeline.start[cause] : timeline.end[origin], cause };
    }
    case WaitsSince::Start:
    case WaitsSince::Cause:
        return { traits.use, timeline.start[cause], cause };
    case WaitsSince::End:
        break;
    }
    return { TimeUse::Pipeline, timeline.end[cause] }; // the lag of a local boundary
}

std::vector<StageTime> stageTimes(const Timeline &timeline)
{
    std::vector<StageTime> times;
    for (std::uint32_t t = 0; t < timeline.tracks.size(); ++t)
        if (timeline.tracks[t].stream == Stream::Compute)
            times.push_back(stageTime(timeline, t));
    return times;
}

std::vector<std::uint32_t> criticalPath(const Timeline &timeline)
{
    std::vector<std::uint32_t> path;
    const auto last = std::ranges::max_element(timeline.end);
    if (last == timeline.end.end())
        return path;
    for (auto span = static_cast<std::uint32_t>(last - timeline.end.begin()); span != kNoSpan;
         span = timeline.cause[span])
        path.push_back(span);
    std::ranges::reverse(path);
    return path;
}

std::vector<double> utilization(const Timeline &timeline, std::uint32_t track, int buckets, bool (*accept)(WorkKind))
{
    std::vector<double> share(static_cast<std::size_t>(std::max(buckets, 0)), 0);
    if (share.empty() || timeline.duration <= 0)
        return share;
    const double width = static_cast<double>(timeline.duration) / buckets;
    for (std::uint32_t span = timeline.tracks[track].first; span < timeline.tracks[track].last; ++span) {
        if (!accept(timeline.kind[span]))
            continue;
        const double from = static_cast<double>(timeline.start[span]) / width,
                     to = static_cast<double>(timeline.end[span]) / width;
        const auto first = std::min(static_cast<std::size_t>(from), share.size() - 1);
        const auto last = std::min(static_cast<std::size_t>(to), share.size() - 1);
        if (first == last) {
            share[first] += to - from;
            continue;
        }
        share[first] += static_cast<double>(first + 1) - from;
        for (std::size_t bucket = first + 1; bucket < last; ++bucket)
            share[bucket] += 1;
        share[last] += to - static_cast<double>(last);
    }
    for (double &value : share)
        value = std::clamp(value, 0.0, 1.0);
    return share;
}

std::uint32_t firstSpanAfter(const Timeline &timeline, std::uint32_t track, Nanoseconds t)
{
    const Track &on = timeline.tracks[track];
    if (on.first == on.last)
        return kNoSpan;
    const auto begin = timeline.end.begin() + on.first, end = timeline.end.begin() + on.last;
    const auto found = std::upper_bound(begin, end, t);
    return found == end ? on.last - 1 : static_cast<std::uint32_t>(found - timeline.end.begin());
}

std::uint32_t spanAt(const Timeline &timeline, std::uint32_t track, Nanoseconds t)
{
    const std::uint32_t span = firstSpanAfter(timeline, track, t);
    return span != kNoSpan && timeline.start[span] <= t && t < timeline.end[span] ? span : kNoSpan;
}

} // namespace trainyard
