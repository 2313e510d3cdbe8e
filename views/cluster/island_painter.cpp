// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/island_painter.h"

#include "views/cluster/cell_painter.h"
#include "views/cluster/node_shape.h"
#include "views/theme/theme.h"

#include <QPainter>

namespace trainyard {

namespace {

constexpr double kApart = 8; // between two texts of one line

/// The fullest of the texts that fits; empty where none does.
QString fitting(const QFontMetricsF &metrics, const QStringList &texts, double width)
{
    for (const QString &text : texts) {
        if (textWidth(metrics, text) <= width)
            return text;
    }
    return {};
}

double paintLines(QPainter &painter, const QStringList &lines, QRectF line, double height)
{
    for (const QString &text : lines) {
        painter.drawText(
            QRectF(line.left(), line.top(), line.width() + 1, height), Qt::AlignLeft | Qt::AlignVCenter, text);
        line.translate(0, height);
    }
    return line.top();
}

void paintTileTexts(QPainter &painter, const MapFonts &fonts, const IslandScene &island, const QRectF &frame)
{
    const Theme &t = theme();
    const QRectF line = frame.adjusted(kTilePad, kTileTop, -kTilePad, 0);
    const QStringList name = nameInLines(island.title, fonts.tileMetrics, line.width());
    painter.setFont(fonts.tile);
    painter.setPen(t.text);
    paintLines(painter, name, line, lineHeight(fonts.tileMetrics));
    if (name.size() > 1
        || textWidth(fonts.tileMetrics, island.title) + textWidth(fonts.tagMetrics, island.count) + kApart
            > line.width())
        return;
    painter.setFont(fonts.tag);
    painter.setPen(t.textMuted);
    painter.drawText(QRectF(line.left(), line.top(), line.width(), lineHeight(fonts.tileMetrics)),
        Qt::AlignRight | Qt::AlignVCenter, island.count);
}

void paintTexts(
    QPainter &painter, const MapFonts &fonts, const IslandScene &island, const IslandLayout &place, bool stale)
{
    const Theme &t = theme();
    const QRectF line = place.frame.adjusted(kIslandTextPad, kTitleTop, -kIslandTextPad, 0);
    const QStringList name = nameInLines(island.title, fonts.titleMetrics, line.width());
    const double first = lineHeight(fonts.titleMetrics), second = lineHeight(fonts.smallMetrics);
    painter.setFont(fonts.title);
    painter.setPen(t.text);
    const double y = paintLines(painter, name, line, first);

    painter.setFont(fonts.small);
    const double idle = island.idleText.isEmpty() ? 0 : textWidth(fonts.smallMetrics, island.idleText);
    const bool besideName =
        name.size() == 1 && textWidth(fonts.titleMetrics, island.title) + idle + kApart <= line.width();
    const bool below = idle > 0 && !besideName;
    const QString subtitle = fitting(fonts.smallMetrics, { island.subtitle, island.hardware, island.count },
        line.width() - (below ? idle + kApart : 0));
    painter.setPen(stale ? t.textFaint : t.textMuted);
    painter.drawText(QRectF(line.left(), y, line.width() + 1, second), Qt::AlignLeft | Qt::AlignVCenter, subtitle);
    if (idle > 0 && idle <= line.width()) {
        painter.setPen(stale ? t.textFaint : t.warning);
        painter.drawText(QRectF(line.left(), below ? y : line.top(), line.width(), below ? second : first),
            Qt::AlignRight | Qt::AlignVCenter, island.idleText);
    }
    if (place.groups.size() < 2)
        return;
    painter.setPen(stale ? t.textFaint : t.textMuted);
    for (std::size_t g = 0; g < place.groups.size(); ++g)
        painter.drawText(place.groups[g].label, Qt::AlignLeft | Qt::AlignVCenter, island.groups[g].label);
}

} // namespace

void paintIsland(
    QPainter &painter, const MapFonts &fonts, const MapScene &scene, const MapLayout &layout, int index, bool stale)
{
    const Theme &t = theme();
    const IslandScene &island = scene.islands[std::size_t(index)];
    const IslandLayout &place = layout.islands[std::size_t(index)];
    const bool isTile = layout.detail == MapDetail::Tiles;
    const double radius = isTile ? Theme::kRadius - 1 : Theme::kRadius + 2;
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setPen(QPen(t.border, 1));
    painter.setBrush(t.panelRaised);
    painter.drawRoundedRect(place.frame.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);

    painter.save();
    painter.setClipRect(place.frame.adjusted(1, 1, -1, -1), Qt::IntersectClip);
    if (isTile)
        paintTileTexts(painter, fonts, island, place.frame);
    else
        paintTexts(painter, fonts, island, place, stale);
    for (const GroupLayout &group : place.groups)
        paintGroup(painter, scene, island, layout, place, group, stale);
    painter.restore();
}

} // namespace trainyard
