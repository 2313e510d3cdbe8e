#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The look of every chart, and pictures of one. GUI thread.

#include <QFont>
#include <QString>

class QCustomPlot;

namespace trainyard {

void stylePlot(QCustomPlot &plot, const QFont &font);
/// png at twice the size on screen, svg, pdf: by the ending of the name.
[[nodiscard]] bool saveChart(QCustomPlot &plot, const QString &path);

} // namespace trainyard
