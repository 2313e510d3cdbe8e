#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How a candidate looks by its state: a colour of a set that the colour-blind tell apart, and a shape of its own, so
// that neither is needed. Sprites of it, and putting thousands of them into an image. GUI thread.

#include "core/planner/search/search.h"

#include <QColor>
#include <QImage>
#include <QPointF>

class QPainter;

namespace trainyard {

[[nodiscard]] QColor markInk(RowState state);
/// A filled disc where feasible, a hollow diamond out of constraints, a cross where infeasible, a dot where outdone.
void paintRowMark(QPainter &painter, QPointF centre, RowState state);
/// The plan itself: a square ring. The best: a star.
void paintOwnMark(QPainter &painter, QPointF centre);
void paintBestMark(QPainter &painter, QPointF centre);

/// The mark as pixels, its middle in the middle.
[[nodiscard]] QImage rowSprite(RowState state, double devicePixelRatio);
/// Lays a sprite over an image, its middle at a pixel; both ARGB32 premultiplied. What lies outside is left out.
void putSprite(QImage &image, const QImage &sprite, int x, int y);

} // namespace trainyard
