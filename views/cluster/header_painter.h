#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The map's header line and its empty state. GUI thread.

#include <QRectF>
#include <QString>

class QPainter;

namespace trainyard {

[[nodiscard]] double headerHeight();
void paintHeader(QPainter &painter, const QRectF &line, const QString &summary, const QString &hint);
void paintEmptyMap(QPainter &painter, const QRectF &area);

} // namespace trainyard
