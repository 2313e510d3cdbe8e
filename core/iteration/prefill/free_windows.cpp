// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/free_windows.h"

#include <algorithm>

namespace trainyard {

namespace {

std::vector<FreeWindow> gapsOf(const Timeline &timeline, const Track &track)
{
    std::vector<FreeWindow> gaps;
    Nanoseconds busyUntil = 0;
    for (std::uint32_t span = track.first; span < track.last; ++span) {
        if (timeline.end[span] == timeline.start[span])
            continue; // work without duration interrupts nothing
        if (timeline.start[span] > busyUntil)
            gaps.push_back({ busyUntil, timeline.start[span] });
        busyUntil = std::max(busyUntil, timeline.end[span]);
    }
    if (timeline.duration > busyUntil)
        gaps.push_back({ busyUntil, timeline.duration });
    return gaps;
}

/// The gap at the end goes on in the one at the beginning.
void joinAround(std::vector<FreeWindow> &gaps, Nanoseconds period)
{
    if (gaps.size() < 2 || gaps.front().start != 0 || gaps.back().end != period)
        return;
    gaps.back().end += gaps.front().end;
    gaps.erase(gaps.begin());
}

} // namespace

FreeWindows freeWindows(
    const Timeline &timeline, const Layout &layout, int gpusPerLocation, int context, Afterwards afterwards)
{
    FreeWindows free;
    free.period = timeline.duration;
    free.afterwards = afterwards;
    for (const Track &track : timeline.tracks) {
        if (track.stream != Stream::Compute)
            continue;
        const PipelineClass &pipelines = layout.classes.at(std::size_t(track.pipelineClass));
        const StageLocation at = pipelines.locations.at(std::size_t(track.stage));
        const int gpus = at.tensor > 0 ? at.tensor * context : gpusPerLocation;
        AdmissionWindows location { track.pipelineClass, track.stage, at, pipelines.pipelines * gpus,
            gapsOf(timeline, track), 0 };
        if (afterwards == Afterwards::Again)
            joinAround(location.windows, timeline.duration);
        for (const FreeWindow &window : location.windows)
            location.idle += window.length();
        free.locations.push_back(std::move(location));
    }
    return free;
}

std::vector<FreeWindow> usable(const std::vector<FreeWindow> &windows, Nanoseconds guard)
{
    std::vector<FreeWindow> left;
    for (const FreeWindow &window : windows) {
        if (window.length() > guard)
            left.push_back({ window.start, window.end - guard });
    }
    return left;
}

} // namespace trainyard
