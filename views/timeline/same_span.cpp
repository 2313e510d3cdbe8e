// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/same_span.h"

#include "views/timeline/track_layout.h"

namespace trainyard {

std::uint32_t sameSpan(const Timeline &from, std::uint32_t span, const Timeline &to)
{
    if (span >= from.spanCount())
        return kNoSpan;
    if (from.fingerprint != 0 && from.fingerprint == to.fingerprint)
        return span; // the same tasks: only their times differ
    const Track &track = from.tracks[from.trackOf[span]];
    const auto isAlike = [&](const Timeline &in, std::uint32_t other) {
        return in.kind[other] == from.kind[span] && in.microBatch[other] == from.microBatch[span]
            && in.chunk[other] == from.chunk[span];
    };
    std::uint32_t earlier = 0; // alike ones before it on its track
    for (std::uint32_t s = track.first; s < span; ++s)
        earlier += isAlike(from, s) ? 1 : 0;
    const int found = sameTrack(to, track);
    if (found < 0)
        return kNoSpan;
    for (std::uint32_t s = to.tracks[std::size_t(found)].first; s < to.tracks[std::size_t(found)].last; ++s)
        if (isAlike(to, s) && earlier-- == 0)
            return s;
    return kNoSpan;
}

} // namespace trainyard
