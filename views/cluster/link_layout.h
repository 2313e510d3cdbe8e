#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Ways of the WAN links between islands, bent around the ones in between, and free places for their cards. Pure.

#include "views/cluster/map_layout.h"

namespace trainyard {

/// Fills `layout.links` from the islands' frames.
void layOutLinks(const MapSpec &spec, MapLayout &layout);

} // namespace trainyard
