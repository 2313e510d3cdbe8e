#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Memory over time as charts in GB draw it: a curve of steps, and the level of what there is. GUI thread.

#include "views/plots/curve_data.h"

class QCustomPlot;
class QColor;
class QFont;
class QPen;

namespace trainyard {

/// From each point to the next, the last one to `end`, in seconds. Returns the highest, in GB.
double addMemorySteps(QCustomPlot &plot, const std::vector<MemoryPoint> &points, double end, const QPen &pen);
/// A dashed line with its label. Returns where it is, in GB.
double addCapacity(QCustomPlot &plot, double bytes, const QColor &color, const QFont &font);

} // namespace trainyard
