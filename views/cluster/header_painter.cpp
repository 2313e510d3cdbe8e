// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/header_painter.h"

#include "views/theme/theme.h"

#include <QFontMetricsF>
#include <QPainter>

#include <cmath>

namespace trainyard {

double headerHeight()
{
    return std::ceil(QFontMetricsF(uiFont(0, QFont::DemiBold)).height()) + 16;
}

void paintHeader(QPainter &painter, const QRectF &line, const QString &summary, const QString &hint)
{
    const Theme &t = theme();
    const QString title = QStringLiteral("Cluster");
    painter.setFont(uiFont(0, QFont::DemiBold));
    painter.setPen(t.text);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, title);
    double x = line.left() + QFontMetricsF(painter.font()).horizontalAdvance(title) + 14;
    painter.setFont(uiFont(-1));
    const QFontMetricsF metrics(painter.font());
    painter.setPen(t.textMuted);
    painter.drawText(QRectF(x, line.top(), line.right() - x, line.height()), Qt::AlignLeft | Qt::AlignVCenter, summary);
    x += metrics.horizontalAdvance(summary) + 16;
    const double room = line.right() - x;
    if (room < 80)
        return;
    painter.setPen(t.textFaint);
    painter.drawText(QRectF(x, line.top(), room, line.height()), Qt::AlignRight | Qt::AlignVCenter,
        metrics.elidedText(hint, Qt::ElideRight, room));
}

void paintEmptyMap(QPainter &painter, const QRectF &area)
{
    const Theme &t = theme();
    const double line = std::ceil(QFontMetricsF(uiFont(1)).height());
    QRectF row(area.left(), area.center().y() - line, area.width(), line);
    painter.setFont(uiFont(1, QFont::DemiBold));
    painter.setPen(t.text);
    painter.drawText(row, Qt::AlignCenter, QStringLiteral("No datacenters yet"));
    row.translate(0, line + 4);
    painter.setFont(uiFont(-1));
    painter.setPen(t.textMuted);
    painter.drawText(
        row, Qt::AlignCenter, QStringLiteral("Double-click here to add one, or drop a plan file on the window"));
}

} // namespace trainyard
