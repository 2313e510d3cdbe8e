#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Paints what changes with every mouse move over the cached map: hover, selection, focus ring, drop target, rubber
// band, the ghost of carried GPUs and the cards. GUI thread.

#include "views/cluster/map_layout.h"
#include "views/cluster/map_scene.h"
#include "views/cluster/map_selection.h"

#include <QColor>
#include <QStringList>

#include <optional>

class QPainter;

namespace trainyard {

struct MapGhost {
    QPointF at;
    /// of the first GPUs carried, for the colours
    std::vector<int> stages;
    int gpus = 0;
    QStringList card;
    /// of the card's second line
    QColor verdict;
};

struct MapOverlay {
    MapSelection selection;
    std::optional<MapItem> hover, focus;
    /// island that shows its edge handles
    int handles = -1;
    /// island under a drag
    int target = -1;
    std::optional<QRectF> band;
    std::optional<std::pair<QPointF, QPointF>> newLink;
    std::optional<MapGhost> ghost;
    std::optional<QPointF> cardAt;
    QStringList card;
};

void paintOverlay(QPainter &painter, const MapScene &scene, const MapLayout &layout, const MapOverlay &overlay);
/// Rectangles of one thing on the map: an island's frame, a pool, nodes or GPUs, a link's card.
[[nodiscard]] std::vector<QRectF> itemRects(const MapScene &scene, const MapLayout &layout, const MapItem &item);

} // namespace trainyard
