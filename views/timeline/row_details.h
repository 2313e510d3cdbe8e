#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where the timeline says what the rows of a class of pipelines have in common. A pure function of the laid out rows.

#include "views/timeline/track_layout.h"

namespace trainyard {

/// What a run of a class's stages has in common is said once: beside the datacenter's name, on the first row that is
/// clear of it. Where no other stage is left to say it, a row of what the stage exchanges does.
/// `line`: pixels from a name to a detail below it.
void sayDetailsOnce(TrackLayout &layout, int line);

} // namespace trainyard
