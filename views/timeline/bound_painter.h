#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What times the jobs of a plan are held to, as lines down the chart: the bounds below which no schedule by shards can
// come, when all have ended, and deadlines. Pure but for the painting.

#include "views/timeline/timeline_state.h"

#include <QColor>

#include <vector>

class QPainter;

namespace trainyard {

struct TimeBound {
    enum class Kind { Bound, End, Deadline };
    Kind kind = Kind::Bound;
    Nanoseconds at = 0;
    /// of its flag; empty: it has none
    QString text;
    /// of a deadline
    int job = JobSpans::kNone;
    bool isMissed = false;
};

/// In order of time; empty for a plan without jobs. Deadlines say whose they are where they are few, or where their
/// job is selected.
[[nodiscard]] std::vector<TimeBound> timeBounds(const TimelineState &state);
/// Places of flags on the ruler, each ending at its line or, where the next one stands there, before it; empty where
/// there is no room left. `widths` and `lines` in the order of time, pixels.
[[nodiscard]] std::vector<QRectF> flagPlaces(
    const std::vector<double> &lines, const std::vector<double> &widths, const QRect &ruler);
void paintBounds(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry);

} // namespace trainyard
