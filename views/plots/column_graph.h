#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A graph of columns from the axis to its values, a bucket each, filled in one colour. Neighbours of one height are one
// rectangle, which takes a tenth of what a line for each bucket takes. Owned by its plot; GUI thread.

#include "views/plots/qcustomplot_gateway.h"

namespace trainyard {

class ColumnGraph : public QCPGraph {
public:
    /// `width` of a column in pixels.
    ColumnGraph(QCustomPlot &plot, const QColor &color, double width);

protected:
    void drawImpulsePlot(QCPPainter *painter, const QVector<QPointF> &lines) const override;

private:
    QColor m_color;
    double m_width;
};

} // namespace trainyard
