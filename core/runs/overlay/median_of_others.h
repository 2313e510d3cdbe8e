#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The median of all values but one, without copying them: who is compared with many likes.

#include <algorithm>
#include <vector>

namespace trainyard {

/// Of sorted values, two at least, of which `own` is one.
[[nodiscard]] inline double medianOfOthers(const std::vector<double> &sorted, double own)
{
    const auto at = static_cast<std::size_t>(std::ranges::lower_bound(sorted, own) - sorted.begin());
    const auto other = [&](std::size_t k) { return sorted[k < at ? k : k + 1]; };
    const std::size_t others = sorted.size() - 1;
    return others % 2 == 1 ? other(others / 2) : (other(others / 2) + other(others / 2 - 1)) / 2;
}

} // namespace trainyard
