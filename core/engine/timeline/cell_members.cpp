// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/cell_members.h"

namespace trainyard {

int sendingMember(const Timeline &timeline, std::uint32_t span)
{
    const std::uint32_t origin = timeline.origin.empty() ? kNoSpan : timeline.origin[span];
    return timeline.tracks[timeline.trackOf[origin == kNoSpan ? span : origin]].pipelineClass;
}

bool hasTurns(const Timeline &timeline, const Track &track)
{
    if (track.stream != Stream::Wan || timeline.origin.empty())
        return false;
    for (std::uint32_t s = track.first + 1; s < track.last; ++s)
        if (sendingMember(timeline, s) != sendingMember(timeline, track.first))
            return true;
    return false;
}

} // namespace trainyard
