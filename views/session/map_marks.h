#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What moved between two plans as marks on the map of one of them: which things, what stands beside them, and the words
// of their tooltip. Pure.

#include "models/session/map_changes.h"
#include "views/cluster/map_layout.h"
#include "views/cluster/map_scene.h"
#include "views/cluster/map_selection.h"

#include <QStringList>

#include <vector>

namespace trainyard {

/// A datacenter or a link of this map about which something changed.
struct MapMark {
    /// an island or a link
    MapItem item;
    /// GPUs of stages that moved, of an island; empty where all of them did
    std::vector<MapItem> parts;
    /// "−8", "moved"; empty of a link
    QString brief;
    /// the datacenter's or the link's name, then a change each
    QStringList lines;
};

/// Things that this map has, islands first. What only the other one has is marked there.
[[nodiscard]] std::vector<MapMark> mapMarks(const MapChanges &changes, const MapScene &scene);
/// Where the words beside an island stand, in pixels.
[[nodiscard]] QRectF badgeOf(const MapMark &mark, const MapLayout &layout, double textWidth, double textHeight);
/// The mark at a position of the map; null where there is none.
[[nodiscard]] const MapMark *markAt(const std::vector<MapMark> &marks, const MapLayout &layout, QPointF at);

} // namespace trainyard
