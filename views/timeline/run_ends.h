#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How long the plan's iteration and the run's step take, as light lines over the chart, labelled with their difference.

#include "views/timeline/timeline_state.h"

#include <QString>

#include <vector>

class QPainter;

namespace trainyard {

struct TimeEnd {
    Nanoseconds at = 0;
    /// "plan", "run +11 %"
    QString text;
    bool isRun = false;
};

/// Plan and run by time, and where the run's last span ends where that is elsewhere; none without a run.
[[nodiscard]] std::vector<TimeEnd> timeEnds(const TimelineState &state);
void paintEnds(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry);

} // namespace trainyard
