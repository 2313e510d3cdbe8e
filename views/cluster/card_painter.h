#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The raised card that follows the mouse: a first line in bold, then details; long sentences wrap. GUI thread.

#include <QPointF>
#include <QRectF>
#include <QStringList>

class QColor;
class QPainter;

namespace trainyard {

/// Where a card with these lines goes: down and right of `at`, pushed inside `bounds`.
[[nodiscard]] QRectF cardRect(QPointF at, const QRectF &bounds, const QStringList &lines);
void paintCard(
    QPainter &painter, const QRectF &card, const QStringList &lines, const QColor &border, const QColor &secondLine);

} // namespace trainyard
