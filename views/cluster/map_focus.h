#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The keyboard's way over the map: which thing comes next by Tab or by arrow, and what it is called. Pure.

#include "views/cluster/map_layout.h"
#include "views/cluster/map_scene.h"
#include "views/cluster/map_selection.h"

#include <optional>

namespace trainyard {

/// Tab order: each island, its pools, then the links. Empty at either end, where focus leaves the map.
[[nodiscard]] std::optional<MapItem> nextItem(
    const MapScene &scene, const MapLayout &layout, const std::optional<MapItem> &from, bool forward);
/// By arrow: islands by where they lie; from a pool into its nodes; node to node in the grid.
[[nodiscard]] MapItem itemTowards(const MapScene &scene, const MapLayout &layout, const MapItem &from, int key);
/// The nearest island in the direction of an arrow key; `from` where there is none.
[[nodiscard]] int islandTowards(const MapLayout &layout, int from, int key);
/// What Space picks up here: a node of an island, a whole pool, a node.
[[nodiscard]] Carry carryOf(const MapScene &scene, const MapItem &item);
/// "Oregon, 192 × H100 SXM, stages 9–12", for screen readers and the hint.
[[nodiscard]] QString spokenName(const MapScene &scene, const MapItem &item);

} // namespace trainyard
