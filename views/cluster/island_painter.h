#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Paints one island: its frame, its name (never cut: in two lines before anything of it goes), what there is room to
// say about it, its hardware. GUI thread.

#include "views/cluster/map_layout.h"
#include "views/cluster/map_scene.h"
#include "views/cluster/map_text.h"

class QPainter;

namespace trainyard {

inline constexpr double kTitleTop = 7, kSubtitleBottom = 6;

void paintIsland(
    QPainter &painter, const MapFonts &fonts, const MapScene &scene, const MapLayout &layout, int island, bool stale);

} // namespace trainyard
