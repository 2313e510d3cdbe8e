#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What each moment of a stage is attributed to: the spans of its compute row, and the waits between them. One walk, for
// sums (analysis.h) and for whoever asks where the seconds of a sum are. Pure functions, any thread.

#include "core/engine/timeline/timeline.h"

#include <algorithm>

namespace trainyard {

struct BookedWait {
    /// what it is attributed to
    TimeUse use = TimeUse::Bubble;
    /// from when on; before that it is a bubble
    Nanoseconds since = 0;
    /// that was awaited, on another row
    std::uint32_t transfer = kNoSpan;
};

/// What a span on `track` waited for in the gap before it.
[[nodiscard]] BookedWait bookedWait(const Timeline &timeline, std::uint32_t span, std::uint32_t track);

/// Calls `booker.work(span)` for each span of a compute track, and for what lies between and after them, which may be
/// empty, `booker.wait(use, begin, end, span, transfer)`: the span that waits and the one on another row that it waits
/// for, kNoSpan where there is none. In order of time; together they fill the iteration.
template <class Booker> void bookStage(const Timeline &timeline, std::uint32_t trackIndex, Booker &&booker)
{
    const Track &track = timeline.tracks[trackIndex];
    Nanoseconds done = 0;
    for (std::uint32_t span = track.first; span < track.last; ++span) {
        const Nanoseconds start = timeline.start[span];
        if (start > done) {
            const BookedWait wait = bookedWait(timeline, span, trackIndex);
            const Nanoseconds since = std::clamp(wait.since, done, start);
            booker.wait(TimeUse::Bubble, done, since, span, kNoSpan);
            booker.wait(wait.use, since, start, span, wait.transfer);
        }
        booker.work(span);
        done = timeline.end[span];
    }
    // After the last: what the stage's collectives still do counts as theirs.
    for (const Track &other : timeline.tracks) {
        if (other.stream != Stream::Collective || other.stage != track.stage
            || other.pipelineClass != track.pipelineClass)
            continue;
        for (std::uint32_t span = other.first; span < other.last; ++span) {
            const Nanoseconds start = std::max(done, timeline.start[span]), end = timeline.end[span];
            if (end <= start)
                continue;
            booker.wait(TimeUse::Bubble, done, start, kNoSpan, kNoSpan);
            booker.wait(traitsOf(timeline.kind[span]).use, start, end, kNoSpan, span);
            done = end;
        }
    }
    booker.wait(TimeUse::Bubble, done, timeline.duration, kNoSpan, kNoSpan);
}

} // namespace trainyard
