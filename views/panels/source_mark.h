#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How a source of measurements looks in plot, legend and tables: a colour and a shape, so that neither has to be told
// apart from many others, nor by colour alone. GUI thread.

#include <QColor>
#include <QPixmap>

namespace trainyard {

enum class MarkShape { Disc, Square, Triangle, Diamond };

struct SourceMark {
    QColor color;
    MarkShape shape = MarkShape::Disc;
};

/// Of the source at a place among the sets; a muted disc for none (-1).
[[nodiscard]] SourceMark sourceMark(int index);
/// Hollow where an input of the row had to be assumed.
void paintMark(QPainter &painter, QPointF centre, double size, const SourceMark &mark, bool isHollow);
[[nodiscard]] QPixmap markPixmap(const SourceMark &mark, double devicePixelRatio);

} // namespace trainyard
