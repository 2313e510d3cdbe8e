// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/curve_points.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr std::size_t kMostStretches = 4096;

} // namespace

CurvePoints curvePoints(const RunCurve &curve)
{
    CurvePoints points;
    const std::size_t count = curve.step.size();
    if (count <= 2 * kMostStretches) {
        points.x = { curve.step.begin(), curve.step.end() };
        points.y = { curve.value.begin(), curve.value.end() };
        return points;
    }
    for (std::size_t stretch = 0; stretch < kMostStretches; ++stretch) {
        const std::size_t from = count * stretch / kMostStretches, to = count * (stretch + 1) / kMostStretches;
        std::size_t least = from, most = from;
        for (std::size_t i = from; i < to; ++i) {
            if (curve.value[i] < curve.value[least] || std::isnan(curve.value[least]))
                least = i;
            if (curve.value[i] > curve.value[most] || std::isnan(curve.value[most]))
                most = i;
        }
        for (const std::size_t i : { std::min(least, most), std::max(least, most) }) {
            points.x << curve.step[i];
            points.y << curve.value[i];
        }
    }
    return points;
}

} // namespace trainyard
