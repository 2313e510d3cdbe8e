// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/map_traffic.h"

#include "views/cluster/overlay_painter.h"
#include "views/theme/theme.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kThinnest = 1, kWidest = 7;

QRectF whole(const MapScene &scene, const MapLayout &layout, const MapItem &item)
{
    QRectF all;
    for (const QRectF &rect : itemRects(scene, layout, item))
        all |= rect;
    return all;
}

/// Bent a little, so that lines there and back lie beside each other.
QPainterPath line(QPointF from, QPointF to)
{
    const QPointF middle = (from + to) / 2, along = to - from;
    QPainterPath path(from);
    path.quadTo(middle + QPointF(-along.y(), along.x()) * 0.12, to);
    return path;
}

} // namespace

double flowWidth(double bytes, double most)
{
    return most > 0 ? std::max(kThinnest, kWidest * std::sqrt(bytes / most)) : kThinnest;
}

void paintTraffic(QPainter &painter, const MapScene &scene, const MapLayout &layout, const MapTraffic &traffic)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, true);
    double most = 0;
    for (const MapFlow &flow : traffic.flows)
        most = std::max(most, flow.bytes);
    QColor ink = theme().accent;
    ink.setAlphaF(0.55F);
    painter.setBrush(Qt::NoBrush);
    for (const MapFlow &flow : traffic.flows) {
        const QRectF from = whole(scene, layout, flow.from), to = whole(scene, layout, flow.to);
        if (from.isNull() || to.isNull())
            continue;
        painter.setPen(QPen(ink, flowWidth(flow.bytes, most), Qt::SolidLine, Qt::RoundCap));
        painter.drawPath(line(from.center(), to.center()));
    }
    for (const bool isInner : { false, true }) {
        painter.setPen(isInner ? QPen(theme().accent, 1.8) : QPen(theme().panel, 4));
        for (const MapItem &end : traffic.ends)
            if (const QRectF rect = whole(scene, layout, end); !rect.isNull())
                painter.drawRoundedRect(rect.adjusted(-1.5, -1.5, 1.5, 1.5), 3, 3);
    }
    painter.restore();
}

} // namespace trainyard
