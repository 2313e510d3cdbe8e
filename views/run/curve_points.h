#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A curve of a run as points of a plot. Pure.

#include "core/overlay/run_overlay.h"

#include <QVector>

namespace trainyard {

struct CurvePoints {
    QVector<double> x, y;
};

/// Of long curves the least and the largest of each stretch: no pixel shows more.
[[nodiscard]] CurvePoints pointsOf(const RunCurve &curve);

} // namespace trainyard
