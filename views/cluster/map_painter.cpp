// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/map_painter.h"

#include "views/cluster/cell_painter.h"
#include "views/cluster/island_painter.h"
#include "views/cluster/link_painter.h"
#include "views/cluster/map_text.h"
#include "views/cluster/node_shape.h"
#include "views/theme/theme.h"

#include <QPainter>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

/// Names that are longer than this stand in two lines, so that one long name does not make a wide island.
constexpr double kLongName = 190, kWidestText = 300;
constexpr double kTileLinks = 0.55; // lines between tiles are thinner
constexpr double kLeastIsland = 130, kLeastTight = 96, kLeastTile = 52;

IslandSpec measureIsland(const MapFonts &fonts, const IslandScene &island, double reserved)
{
    const auto &small = fonts.smallMetrics;
    IslandSpec shape;
    const double pads = 2 * kIslandTextPad;
    const double name = textWidth(fonts.titleMetrics, island.title),
                 halves = twoLineWidth(island.title, fonts.titleMetrics);
    const double idle = island.idle ? textWidth(small, QStringLiteral("00,000 idle")) + 10 : 0;
    // Room for "stages 1–2" is kept from the start, so that nothing moves when it is known.
    const double subtitle = std::min(
        std::max(textWidth(small, island.subtitle), textWidth(small, island.hardware) + reserved), kWidestText);
    // The name is measured against what lies between the frame's own pads.
    shape.nameWidth = name + pads - 2 * kIslandPad;
    shape.minWidth =
        std::max({ kLeastIsland, name <= kLongName ? name + idle : halves, island.groups.empty() ? 0 : subtitle })
        + pads + 2;
    shape.tightWidth =
        std::min(shape.minWidth, std::max({ kLeastTight, halves, textWidth(small, island.count) }) + pads + 2);
    shape.tileNameWidth = textWidth(fonts.tileMetrics, island.title);
    shape.tileWidth = std::max(kLeastTile, twoLineWidth(island.title, fonts.tileMetrics) + 2 * kTilePad + 1);
    for (const GroupScene &group : island.groups) {
        GroupSpec run;
        run.labelWidth = textWidth(small, group.label) + 4;
        for (const int pool : group.pools)
            run.pools.push_back(
                { pool, island.pools[std::size_t(pool)].nodes, island.pools[std::size_t(pool)].gpusPerNode });
        shape.groups.push_back(std::move(run));
    }
    return shape;
}

} // namespace

MapSpec measureScene(const MapScene &scene, const Plan &plan)
{
    const MapFonts fonts;
    MapSpec spec;
    spec.nameLine = lineHeight(fonts.titleMetrics);
    spec.subtitleLine = lineHeight(fonts.smallMetrics);
    spec.tileLine = lineHeight(fonts.tileMetrics);
    spec.titleHeight = kTitleTop + spec.nameLine + spec.subtitleLine + kSubtitleBottom;
    spec.labelHeight = spec.subtitleLine + 2;
    const double reserved = textWidth(
        fonts.smallMetrics, scene.stages < 10 ? QStringLiteral(" · stages 0–0") : QStringLiteral(" · stages 00–00"));
    for (std::size_t i = 0; i < scene.islands.size(); ++i) {
        const Datacenter &datacenter = plan.cluster.datacenters[i];
        spec.islands.push_back(measureIsland(fonts, scene.islands[i], reserved));
        if (datacenter.latitude && datacenter.longitude)
            spec.islands.back().place = QPointF(*datacenter.longitude, *datacenter.latitude);
    }
    for (const LinkScene &link : scene.links)
        spec.links.push_back(
            link.isResting ? measureLink(fonts, link) : LinkSpec { link.a, link.b, {}, {}, {}, false });
    return spec;
}

void paintMap(QPainter &painter, const MapScene &scene, const MapLayout &layout, bool stale)
{
    const MapFonts fonts;
    painter.save();
    painter.setClipRect(layout.shown.adjusted(-Theme::kPad, -2, Theme::kPad, Theme::kPad));
    for (std::size_t i = 0; i < layout.links.size(); ++i) {
        if (layout.links[i].visible && scene.links[i].isResting)
            paintLink(
                painter, scene.links[i], layout.links[i], layout.detail == MapDetail::Tiles ? kTileLinks : 1, stale);
    }
    for (std::size_t i = 0; i < layout.islands.size(); ++i) {
        if (layout.islands[i].frame.intersects(layout.shown.adjusted(-Theme::kPad, 0, Theme::kPad, Theme::kPad)))
            paintIsland(painter, fonts, scene, layout, int(i), stale);
    }
    for (std::size_t i = 0; i < layout.links.size(); ++i) {
        if (layout.links[i].visible && scene.links[i].isResting && !layout.links[i].card.isEmpty())
            paintLinkLabel(painter, fonts, scene.links[i], layout.links[i], stale);
    }
    painter.restore();
}

} // namespace trainyard
