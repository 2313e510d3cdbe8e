#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Paints a WAN link: its line, width by capacity and colour by use, and the label that lies on it. GUI thread.

#include "views/cluster/map_layout.h"
#include "views/cluster/map_scene.h"
#include "views/cluster/map_text.h"

class QColor;
class QPainter;

namespace trainyard {

inline constexpr double kLinkLabelPad = 7;

/// `thickness`: a factor, less than 1 where the map is dense.
void paintLink(QPainter &painter, const LinkScene &link, const LinkLayout &place, double thickness, bool stale);
void paintLinkLabel(
    QPainter &painter, const MapFonts &fonts, const LinkScene &link, const LinkLayout &place, bool stale);
/// Sizes of the label's three forms.
[[nodiscard]] LinkSpec measureLink(const MapFonts &fonts, const LinkScene &link);
/// Green over amber to red; every use is also written on the link's label.
[[nodiscard]] QColor useColour(double utilization);

} // namespace trainyard
