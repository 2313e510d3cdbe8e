#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The points of a curve that its chart draws: all of them or, of a run of hours, the least and the largest of each
// stretch, since no pixel shows more. Pure.

#include "core/runs/overlay/run_overlay.h"

#include <QVector>

namespace trainyard {

struct CurvePoints {
    QVector<double> x, y;
};
[[nodiscard]] CurvePoints curvePoints(const RunCurve &curve);

} // namespace trainyard
