#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Who sends how much to whom, to be drawn over the map: places that receive, and lines to them as wide as what they
// carry. A value; whoever shows it says what it is about. Painted over the cached map. GUI thread.

#include "views/cluster/map_layout.h"
#include "views/cluster/map_scene.h"
#include "views/cluster/map_selection.h"

#include <vector>

class QPainter;

namespace trainyard {

struct MapFlow {
    MapItem from, to;
    double bytes = 0;
    bool operator==(const MapFlow &) const = default;
};

struct MapTraffic {
    /// "Expert 12: 8 GPUs hold it", for the header
    QString title;
    /// that receive
    std::vector<MapItem> ends;
    /// between other places than these alone
    std::vector<MapFlow> flows;
    bool operator==(const MapTraffic &) const = default;
};

/// Width of a line that carries `bytes` where the widest carries `most`, pixels: by area of what goes through.
[[nodiscard]] double flowWidth(double bytes, double most);
void paintTraffic(QPainter &painter, const MapScene &scene, const MapLayout &layout, const MapTraffic &traffic);

} // namespace trainyard
