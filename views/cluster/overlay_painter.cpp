// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/overlay_painter.h"

#include "views/cluster/card_painter.h"
#include "views/cluster/cell_painter.h"
#include "views/theme/theme.h"

#include <QLocale>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kMostGhostCells = 64;

void outline(QPainter &painter, const QRectF &rect, double grow, double width, const QColor &fill)
{
    const double radius = rect.width() > 60 ? Theme::kRadius + 2 : 3;
    painter.setPen(QPen(theme().accent, width));
    painter.setBrush(fill);
    painter.drawRoundedRect(rect.adjusted(-grow, -grow, grow, grow), radius, radius);
}

void paintItem(QPainter &painter, const MapScene &scene, const MapLayout &layout, const MapItem &item, bool selected)
{
    if (item.kind == MapItem::Kind::Link && item.link >= 0 && item.link < int(layout.links.size())) {
        const LinkLayout &link = layout.links[std::size_t(item.link)];
        QPainterPath path(link.from);
        path.quadTo(link.bend, link.to);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(withAlpha(theme().accent, 0.5), 2));
        painter.drawPath(path);
    }
    for (const QRectF &rect : itemRects(scene, layout, item))
        outline(painter, rect, 0.5, selected ? 1.6 : 1.2,
            selected ? withAlpha(theme().accent, 0.16) : QColor(Qt::transparent));
}

void paintFocus(QPainter &painter, const MapScene &scene, const MapLayout &layout, const MapItem &item)
{
    QRectF all;
    for (const QRectF &rect : itemRects(scene, layout, item))
        all |= rect;
    if (all.isNull())
        return;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme().panel, 4));
    painter.drawRoundedRect(all.adjusted(-3, -3, 3, 3), 5, 5);
    outline(painter, all, 3, 2, Qt::transparent);
}

void paintHandles(QPainter &painter, const QRectF &frame)
{
    for (const QPointF &at : handlePoints(frame)) {
        painter.setPen(QPen(theme().accent, 1.4));
        painter.setBrush(theme().panel);
        painter.drawEllipse(at, 5, 5);
        painter.drawLine(at - QPointF(2.4, 0), at + QPointF(2.4, 0));
        painter.drawLine(at - QPointF(0, 2.4), at + QPointF(0, 2.4));
    }
}

void paintGhost(QPainter &painter, const MapScene &scene, const MapLayout &layout, const MapGhost &ghost)
{
    const Theme &t = theme();
    const int shown = std::min(ghost.gpus, kMostGhostCells);
    const int columns = std::clamp(shown <= 8 ? (shown + 1) / 2 : shown <= 16 ? 8 : 16, 1, 16);
    const int rows = (shown + columns - 1) / columns;
    const QSizeF cell(5, 8);
    const QSizeF size(columns * (cell.width() + 1) + 9, rows * (cell.height() + 1) + 9);
    QRectF box(ghost.at - QPointF(size.width() / 2, size.height() / 2), size);
    painter.setPen(QPen(t.accent, 1.4, Qt::DashLine));
    painter.setBrush(withAlpha(t.accentSoft, 0.92));
    painter.drawRoundedRect(box, 4, 4);
    painter.setRenderHint(QPainter::Antialiasing, false);
    for (int i = 0; i < shown; ++i) {
        const int stage = i < int(ghost.stages.size()) ? ghost.stages[std::size_t(i)] : kUnknownStage;
        const QPointF at(std::round(box.left() + 5 + (i % columns) * (cell.width() + 1)),
            std::round(box.top() + 5 + (i / columns) * (cell.height() + 1)));
        painter.fillRect(QRectF(at, cell), cellColour(stage, scene.stages, false));
    }
    painter.setRenderHint(QPainter::Antialiasing, true);
    QRectF card = cardRect({ box.right() + 10, box.center().y() - 22 }, layout.shown, ghost.card);
    if (card.left() < box.right() + 4) // pushed back from the right edge: the other side of the ghost
        card = cardRect({ box.left() - 10 - card.width(), card.top() }, layout.shown, ghost.card);
    paintCard(painter, card, ghost.card, t.accent, ghost.verdict);
}

} // namespace

std::vector<QRectF> itemRects(const MapScene &scene, const MapLayout &layout, const MapItem &item)
{
    switch (item.kind) {
    case MapItem::Kind::None:
        break;
    case MapItem::Kind::Island:
        if (item.island >= 0 && item.island < int(layout.islands.size()))
            return { layout.islands[std::size_t(item.island)].frame };
        break;
    case MapItem::Kind::Pool:
        return { poolRect(layout, item.island, item.pool) };
    case MapItem::Kind::Link:
        if (item.link >= 0 && item.link < int(layout.links.size()) && layout.links[std::size_t(item.link)].visible
            && !layout.links[std::size_t(item.link)].card.isEmpty())
            return { layout.links[std::size_t(item.link)].card };
        break;
    case MapItem::Kind::Gpus: {
        if (item.island < 0 || item.island >= int(scene.islands.size()) || item.pool < 0
            || item.pool >= int(scene.islands[std::size_t(item.island)].pools.size()))
            return {};
        const PoolScene &pool = scene.islands[std::size_t(item.island)].pools[std::size_t(item.pool)];
        const int perNode = std::max(1, pool.gpusPerNode);
        if (item.firstGpu == 0 && item.gpus > 4 * perNode && item.gpus == int(pool.stageOfGpu.size()))
            return { poolRect(layout, item.island, item.pool) };
        std::vector<QRectF> rects;
        const int end = std::min(item.firstGpu + item.gpus, int(pool.stageOfGpu.size()));
        for (int gpu = item.firstGpu; gpu < end;) {
            if (gpu % perNode == 0 && end - gpu >= perNode) {
                rects.push_back(nodeRect(layout, item.island, item.pool, gpu / perNode));
                gpu += perNode;
            } else {
                rects.push_back(gpuRect(layout, item.island, item.pool, gpu++));
            }
        }
        return rects;
    }
    }
    return {};
}

void paintOverlay(QPainter &painter, const MapScene &scene, const MapLayout &layout, const MapOverlay &overlay)
{
    painter.setRenderHint(QPainter::Antialiasing, true);
    for (const MapItem &item : overlay.selection)
        paintItem(painter, scene, layout, item, true);
    if (overlay.hover)
        paintItem(painter, scene, layout, *overlay.hover, false);
    if (overlay.target >= 0 && overlay.target < int(layout.islands.size()))
        outline(painter, layout.islands[std::size_t(overlay.target)].frame, 0, 2, withAlpha(theme().accent, 0.10));
    if (overlay.focus)
        paintFocus(painter, scene, layout, *overlay.focus);
    if (overlay.handles >= 0 && overlay.handles < int(layout.islands.size()))
        paintHandles(painter, layout.islands[std::size_t(overlay.handles)].frame);
    if (overlay.band)
        outline(painter, *overlay.band, 0, 1, withAlpha(theme().accent, 0.12));
    if (overlay.newLink) {
        painter.setPen(QPen(theme().accent, 2.5, Qt::DashLine, Qt::RoundCap));
        painter.drawLine(overlay.newLink->first, overlay.newLink->second);
    }
    if (overlay.ghost)
        paintGhost(painter, scene, layout, *overlay.ghost);
    else if (overlay.cardAt)
        paintCard(painter,
            cardRect(*overlay.cardAt + QPointF(14, 16), layout.shown.adjusted(-4, -4, 4, 4), overlay.card),
            overlay.card, theme().border, theme().textMuted);
}

} // namespace trainyard
