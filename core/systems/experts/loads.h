#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Loads of experts that are not alike: what each rank gets, which is the fullest, what experts of limited room drop.

#include <optional>
#include <vector>

namespace trainyard {

struct RankLoads {
    /// relative to the mean, after dropping
    std::vector<double> ofRank;
    /// the first of the fullest ranks
    int fullest = 0;
    /// its load
    double skew = 1;
    /// share of all visits that found no room
    double dropped = 0;
};

/// Experts lie on `ranks` in order, as many on each. `loads`: relative, one an expert (a layer has `experts`), or
/// empty: the fullest rank has `imbalance` times the mean, all there is at most, the others share the rest. `capacity`:
/// room of an expert over the mean. Errors: none; loads that are all 0 count as equal ones.
[[nodiscard]] RankLoads rankLoads(
    const std::vector<double> &loads, int experts, int ranks, double imbalance, std::optional<double> capacity);

} // namespace trainyard
