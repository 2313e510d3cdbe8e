#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The map's menus: what can be done with an island, GPUs, a link or the empty sea, and the palette of GPU types. A menu
// only names and calls; the map does. GUI thread.

#include "views/cluster/map_scene.h"
#include "views/cluster/map_selection.h"

#include <functional>
#include <string>

class QMenu;

namespace trainyard {

struct MapCommands {
    std::function<void()> addDatacenter, resetPositions, remove, pickUp;
    /// gpu: a catalogue id, or empty to ask
    std::function<void(int datacenter, std::string gpu)> addPool;
    /// −1: its ends are asked for
    std::function<void(int from, int to)> addLink;
    std::function<void()> fit;
    std::function<void()> edit;
    /// false: only preview it; −1 ends a preview
    std::function<void(int datacenter, bool really)> moveTo;
};

/// The menu for the first thing selected; for the sea where nothing is.
void fillMapMenu(QMenu &menu, const MapScene &scene, const MapSelection &selection, const MapCommands &commands);
/// "Add ▾" of the header: a datacenter, GPUs by type, a link.
void fillAddMenu(QMenu &menu, const MapScene &scene, int datacenter, const MapCommands &commands);

} // namespace trainyard
