// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/verdict_part.h"

#include "core/base/number_text.h"

#include <cmath>

namespace trainyard {

namespace {

constexpr double kAll = 0.9, kMoreThanAll = 1.15, kMost = 0.6; // of the difference

} // namespace

std::string differenceShareText(double share)
{
    return share >= 0.0995 ? std::to_string(std::llround(share * 100)) + " %" : percentText(share);
}

std::string whereOf(const std::vector<NamedDifference> &parts, double whole)
{
    std::vector<const NamedDifference *> along, against;
    for (const NamedDifference &one : parts)
        (one.difference * whole > 0 ? along : against).push_back(&one);
    if (along.empty())
        return {};
    const double first = along.front()->difference / whole;
    if (first >= kMoreThanAll && !against.empty())
        return ", more than all of it in " + along.front()->name + ", against " + against.front()->name;
    if (first >= kAll || along.size() == 1)
        return ", all of it in " + along.front()->name;
    if (first >= kMost)
        return ", most of it in " + along.front()->name;
    return ", above all in " + along[0]->name + " and in " + along[1]->name;
}

} // namespace trainyard
