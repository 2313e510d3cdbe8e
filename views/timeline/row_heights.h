#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How tall the rows of the timeline are: bars as tall as the page allows, the baseline's line and the measured lane
// below them. Pure arithmetic in logical pixels, for layOutTracks.

#include "views/timeline/track_layout.h"

namespace trainyard {

/// Whether a row is less tall than those of stages.
[[nodiscard]] inline bool isThin(const TrackRow &row)
{
    return row.kind == TrackRow::Kind::Channel || row.kind == TrackRow::Kind::Stream;
}

/// The tallest bars with which all rows fit `available` pixels, within legible bounds.
[[nodiscard]] int barHeight(const std::vector<TrackRow> &rows, bool ghost, int available);
/// Bars, lanes and pitch of a row, with bars of that height.
void setHeights(TrackRow &row, int bar, bool ghost);

} // namespace trainyard
