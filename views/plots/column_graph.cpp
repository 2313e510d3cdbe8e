// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/plots/column_graph.h"

#include <algorithm>

namespace trainyard {

ColumnGraph::ColumnGraph(QCustomPlot &plot, const QColor &color, double width)
    : QCPGraph(plot.xAxis, plot.yAxis)
    , m_color(color)
    , m_width(width)
{
    setLineStyle(lsImpulse);
    setAntialiased(false);
}

/// `lines` are pairs of points, from the axis to the value.
void ColumnGraph::drawImpulsePlot(QCPPainter *painter, const QVector<QPointF> &lines) const
{
    QVector<QRect> columns;
    for (qsizetype i = 0; i + 1 < lines.size(); i += 2) {
        const auto [top, bottom] = std::minmax({ lines[i].y(), lines[i + 1].y() });
        const QRect column(QPoint(qRound(lines[i].x() - m_width / 2), qRound(top)),
            QPoint(qRound(lines[i].x() + m_width / 2) - 1, qRound(bottom) - 1));
        if (!column.isValid())
            continue;
        QRect *last = columns.isEmpty() ? nullptr : &columns.last();
        if (last && last->top() == column.top() && last->bottom() == column.bottom()
            && last->right() + 1 >= column.left())
            last->setRight(column.right());
        else
            columns.push_back(column);
    }
    painter->setPen(Qt::NoPen);
    painter->setBrush(m_color);
    painter->drawRects(columns);
}

} // namespace trainyard
