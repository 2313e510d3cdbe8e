#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Ways of the WAN links between islands, bent around the ones in between, and places for their labels: each on its own
// line, off every island, other label and other line. Pure.

#include "views/cluster/map_layout.h"

namespace trainyard {

/// Fills `layout.links` from the islands' frames; links that do not rest on the map stay invisible.
void layOutLinks(const MapSpec &spec, MapLayout &layout);

} // namespace trainyard
