#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the resting map (islands, GPUs, links) from scene and layout. GUI thread; the widget caches the result, so
// hover, selection and drags cost nothing here (see overlay_painter.h).

#include "views/cluster/map_layout.h"
#include "views/cluster/map_scene.h"

class QPainter;

namespace trainyard {

/// Counts, texts and sizes of the scene as the layout needs them, measured in the product's fonts.
[[nodiscard]] MapSpec measureScene(const MapScene &scene, const Plan &plan);
void paintMap(QPainter &painter, const MapScene &scene, const MapLayout &layout, bool stale);

} // namespace trainyard
