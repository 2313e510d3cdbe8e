#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The look of every chart, and pictures of one. GUI thread.

#include <QColor>
#include <QFont>
#include <QString>

class QCPItemText;
class QCustomPlot;

namespace trainyard {

void stylePlot(QCustomPlot &plot, const QFont &font);
/// What the axes measure, with the unit, in the left margin where it is wide enough: beside the y axis and before the
/// first label of the x axis.
void addAxisTitles(QCustomPlot &plot, const QString &y, const QString &x, const QFont &font);
/// Says at the right end of a horizontal line what it stands for; the item belongs to the plot.
QCPItemText *addLineLabel(QCustomPlot &plot, double y, const QString &text, const QColor &color, const QFont &font);
/// png at twice the size on screen, svg, pdf: by the ending of the name.
[[nodiscard]] bool saveChart(QCustomPlot &plot, const QString &path);

} // namespace trainyard
