// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/plots/log_ticks.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

QVector<double> logTicks(double from, double to)
{
    QVector<double> ticks;
    if (!(from > 0) || !(to > from))
        return ticks;
    const double decades = std::log10(to / from);
    if (decades < 0.35) {
        const double power = std::pow(10.0, std::floor(std::log10((to - from) / 3)));
        const double step = power * ((to - from) / power > 15 ? 5 : (to - from) / power > 7 ? 2 : 1);
        for (double tick = std::ceil(from / step) * step; tick <= to; tick += step)
            ticks << tick;
        return ticks;
    }
    const int every = std::max(1, int(std::ceil(decades / 8)));
    for (int power = int(std::floor(std::log10(from))); power <= int(std::ceil(std::log10(to))); ++power) {
        for (const double digit : { 1.0, 2.0, 5.0 }) {
            if (digit > 1 && decades > 3.2)
                continue;
            const double tick = digit * std::pow(10.0, power);
            if (tick >= from && tick <= to && (digit > 1 || power % every == 0))
                ticks << tick;
        }
    }
    return ticks;
}

} // namespace trainyard
