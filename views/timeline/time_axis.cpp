// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/time_axis.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {

double timeToX(Nanoseconds time, TimeInterval range, double left, double width)
{
    if (range.isEmpty())
        return left;
    return left + double(time - range.begin) * width / double(range.length());
}

Nanoseconds xToTime(double x, TimeInterval range, double left, double width)
{
    if (width <= 0)
        return range.begin;
    return range.begin + Nanoseconds(std::floor((x - left) / width * double(range.length())));
}

TimeInterval clamped(TimeInterval range, TimeInterval whole)
{
    const Nanoseconds length =
        std::min(std::max(range.length(), kShortestRange), std::max(whole.length(), kShortestRange));
    const Nanoseconds latest = std::max(whole.begin, whole.end - length);
    const Nanoseconds begin = std::clamp(range.begin, whole.begin, latest);
    return { begin, begin + length };
}

TimeInterval zoomed(TimeInterval range, double factor, Nanoseconds anchor, TimeInterval whole)
{
    const double length = std::clamp(
        double(range.length()) / factor, double(kShortestRange), double(std::max(whole.length(), kShortestRange)));
    const double share = range.isEmpty() ? 0.5 : double(anchor - range.begin) / double(range.length());
    const auto begin = Nanoseconds(std::llround(double(anchor) - share * length));
    return clamped({ begin, begin + Nanoseconds(std::llround(length)) }, whole);
}

TimeInterval panned(TimeInterval range, Nanoseconds by, TimeInterval whole)
{
    return clamped({ range.begin + by, range.end + by }, whole);
}

TimeInterval carriedOver(TimeInterval range, TimeInterval oldWhole, TimeInterval newWhole)
{
    if (oldWhole.isEmpty() || range.isEmpty() || range == oldWhole)
        return newWhole;
    const double scale = double(newWhole.length()) / double(oldWhole.length());
    const auto mapped = [&](Nanoseconds t) {
        return newWhole.begin + Nanoseconds(std::llround(double(t - oldWhole.begin) * scale));
    };
    return clamped({ mapped(range.begin), mapped(range.end) }, newWhole);
}

Nanoseconds tickStep(TimeInterval range, double width, double minimumPixels)
{
    if (range.isEmpty() || width <= 0)
        return 1;
    const double least = double(range.length()) * minimumPixels / width;
    Nanoseconds decade = 1;
    while (double(decade) * 10 < least)
        decade *= 10;
    for (const Nanoseconds multiple : { 1, 2, 5 }) {
        if (double(decade * multiple) >= least)
            return decade * multiple;
    }
    return decade * 10;
}

std::vector<Nanoseconds> ticks(TimeInterval range, Nanoseconds step)
{
    std::vector<Nanoseconds> times;
    if (step <= 0)
        return times;
    const Nanoseconds remainder = range.begin % step;
    const Nanoseconds first =
        remainder == 0 ? range.begin : range.begin + step - (remainder < 0 ? remainder + step : remainder);
    for (Nanoseconds t = first; t < range.end; t += step)
        times.push_back(t);
    return times;
}

QString tickLabel(Nanoseconds time, Nanoseconds step, Nanoseconds largest)
{
    struct Unit {
        double nanoseconds;
        const char *name;
    };
    static constexpr std::array<Unit, 4> units { { { 1e9, " s" }, { 1e6, " ms" }, { 1e3, " µs" }, { 1, " ns" } } };
    const auto *unit =
        std::find_if(units.begin(), units.end() - 1, [&](const Unit &u) { return double(largest) >= u.nanoseconds; });
    int decimals = 0;
    for (double s = double(step) / unit->nanoseconds; decimals < 9 && std::abs(s - std::round(s)) > 1e-6 * s; s *= 10)
        ++decimals;
    return QString::number(double(time) / unit->nanoseconds, 'f', decimals) + QString::fromUtf8(unit->name);
}

} // namespace trainyard
