#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One value of many ranks, each with its error, that may differ by more than their errors say.

#include <vector>

namespace trainyard {

struct RankValue {
    /// error: standard; 0: not told
    double value = 0, error = 0;
};

/// Weighed by their errors and by what the values differ beyond them (DerSimonian, Laird 1986: the variance between
/// them by moments), so that the error of the mean tells of both. Where one does not tell its error: the plain mean,
/// without error.
[[nodiscard]] RankValue randomEffectsMean(const std::vector<RankValue> &values);

} // namespace trainyard
