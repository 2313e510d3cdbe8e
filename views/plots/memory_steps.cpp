// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/plots/memory_steps.h"

#include "models/text/format.h"
#include "views/plots/plot_style.h"
#include "views/plots/qcustomplot_gateway.h"
#include "views/theme/theme.h"

#include <algorithm>

namespace trainyard {

double addMemorySteps(QCustomPlot &plot, const std::vector<MemoryPoint> &points, double end, const QPen &pen)
{
    QCPGraph *graph = plot.addGraph();
    graph->setLineStyle(QCPGraph::lsStepLeft);
    graph->setPen(pen);
    double highest = 0;
    for (const MemoryPoint &point : points) {
        graph->addData(point.seconds, point.bytes / 1e9);
        highest = std::max(highest, point.bytes / 1e9);
    }
    if (!points.empty())
        graph->addData(end, points.back().bytes / 1e9);
    return highest;
}

double addCapacity(QCustomPlot &plot, double bytes, const QColor &color, const QFont &font)
{
    const double capacity = bytes / 1e9;
    auto *line = new QCPItemStraightLine(&plot);
    line->point1->setCoords(0, capacity);
    line->point2->setCoords(1, capacity);
    line->setPen(QPen(color, 1.5, Qt::DashLine));
    addLineLabel(plot, capacity, QObject::tr("%1 capacity").arg(formatBytes(bytes)), theme().textMuted, font);
    return capacity;
}

} // namespace trainyard
