// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/planner/scatter_frame.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kNarrowest = 1.02, kLowest = 1e-9, kHighest = 1e12; // of what can be zoomed to

AxisRange within(double from, double to)
{
    from = std::clamp(from, kLowest, kHighest);
    return { from, std::clamp(to, from * kNarrowest, kHighest * kNarrowest) };
}

} // namespace

double AxisRange::shareOf(double value) const
{
    return std::log(value / from) / std::log(to / from);
}

double AxisRange::at(double share) const
{
    return from * std::pow(to / from, share);
}

AxisRange AxisRange::zoomed(double around, double factor) const
{
    return within(around * std::pow(from / around, factor), around * std::pow(to / around, factor));
}

AxisRange AxisRange::moved(double share) const
{
    const double by = std::pow(to / from, share);
    return within(from * by, to * by);
}

double ScatterFrame::xOf(double usd) const
{
    const QRectF inside = plane();
    return usd > 0 ? inside.left() + price.shareOf(usd) * inside.width() : area.left() + gutter / 2;
}

double ScatterFrame::yOf(double seconds) const
{
    return area.bottom() - time.shareOf(seconds) * area.height();
}

double ScatterFrame::usdAt(double x) const
{
    const QRectF inside = plane();
    return price.at((x - inside.left()) / std::max(1.0, inside.width()));
}

double ScatterFrame::secondsAt(double y) const
{
    return time.at((area.bottom() - y) / std::max(1.0, area.height()));
}

bool ScatterFrame::has(double usd, double seconds) const
{
    return seconds > 0 && time.has(seconds) && (!(usd > 0) || price.has(usd));
}

} // namespace trainyard
