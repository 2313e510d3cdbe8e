// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/unequal_gpus/profile_tables.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace trainyard {

std::vector<double> lineTable(double slope, double intercept, int size)
{
    return extendedByLine({}, slope, intercept, size);
}

std::vector<double> extendedByLine(std::vector<double> measured, double slope, double intercept, int size)
{
    for (int m = int(measured.size()) + 1; m <= size; ++m)
        measured.push_back(slope * m + intercept);
    return measured;
}

std::vector<double> extrapolated(std::vector<double> measured, int size)
{
    constexpr std::size_t kPoints = 5;
    if (measured.empty())
        return measured;
    const std::size_t steps = std::min(measured.size(), kPoints) - 1;
    const double last = measured.back();
    const double slope = steps > 0 ? (last - measured[measured.size() - 1 - steps]) / double(steps) : 0;
    const int known = int(measured.size());
    for (int m = known + 1; m <= size; ++m)
        measured.push_back(last + slope * (m - known));
    return measured;
}

} // namespace trainyard
