#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The charts of the curves panel that nobody knows but as charts; what each shows is told in its file. GUI thread.

#include "views/plots/curve_plot.h"

namespace trainyard {

[[nodiscard]] CurvePlot *makeUtilizationPlot(QWidget *parent);
[[nodiscard]] CurvePlot *makeMemoryPlot(QWidget *parent);
[[nodiscard]] CurvePlot *makeMemoryTimePlot(QWidget *parent);
[[nodiscard]] CurvePlot *makeWanPlot(QWidget *parent);
[[nodiscard]] CurvePlot *makeHostMemoryPlot(QWidget *parent);

} // namespace trainyard
