#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the hardware of one group of pools at the layout's detail: GPU cells, node cells or bars with counts. Plain
// fills on whole pixels, batched by colour: this is what must stay fast at tens of thousands of GPUs.

#include "views/cluster/map_layout.h"
#include "views/cluster/map_scene.h"

#include <QColor>

class QPainter;

namespace trainyard {

inline constexpr double kIslandTextPad = 11;

void paintGroup(QPainter &painter, const MapScene &scene, const IslandScene &island, const MapLayout &layout,
    const IslandLayout &place, const GroupLayout &group, bool stale);
/// Colour of a stage, of an idle or of a not yet evaluated GPU.
[[nodiscard]] QColor cellColour(int stage, int stages, bool stale);
/// The colour with another opacity.
[[nodiscard]] inline QColor withAlpha(QColor colour, double alpha)
{
    colour.setAlphaF(float(alpha));
    return colour;
}

} // namespace trainyard
