#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The median: of an even number of values the mean of the two in the middle, so that it is the same in any order.

#include <algorithm>
#include <cmath>
#include <vector>

namespace trainyard {

/// 0 of none.
template <class Value> [[nodiscard]] double medianOf(std::vector<Value> values)
{
    if (values.empty())
        return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    const auto upper = static_cast<double>(*middle);
    return values.size() % 2 == 1 ? upper
                                  : (upper + static_cast<double>(*std::max_element(values.begin(), middle))) / 2;
}

/// Median of the distances from there.
[[nodiscard]] inline double medianDistance(std::vector<double> values, double from)
{
    for (double &value : values)
        value = std::abs(value - from);
    return medianOf(std::move(values));
}

/// Standard error of a median of n normal values, times √n, over the median of their distances from it.
inline constexpr double kMedianError = 1.2533 * 1.4826;

} // namespace trainyard
