// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/experts/loads.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

namespace {

/// What each expert is asked for, over the mean of all.
std::vector<double> asked(const std::vector<double> &loads, int experts, int ranks, double imbalance)
{
    const double sum = std::accumulate(loads.begin(), loads.end(), 0.0);
    std::vector<double> wanted(loads.empty() ? std::size_t(experts) : loads.size(), 1.0);
    if (!loads.empty()) {
        for (std::size_t i = 0; sum > 0 && i < loads.size(); ++i)
            wanted[i] = loads[i] * double(loads.size()) / sum;
        return wanted;
    }
    // The first rank is the fullest. It cannot have more than all.
    imbalance = std::min(imbalance, double(ranks));
    const double rest = ranks > 1 ? (ranks - imbalance) / (ranks - 1) : 1;
    for (std::size_t i = 0; i < wanted.size(); ++i)
        wanted[i] = i * std::size_t(ranks) / wanted.size() == 0 ? imbalance : rest;
    return wanted;
}

} // namespace

RankLoads rankLoads(
    const std::vector<double> &loads, int experts, int ranks, double imbalance, std::optional<double> capacity)
{
    std::vector<double> wanted = asked(loads, std::max(experts, ranks), ranks, imbalance);
    const std::size_t count = wanted.size();
    const double all = std::accumulate(wanted.begin(), wanted.end(), 0.0);
    for (double &load : wanted)
        load = std::min(load, capacity.value_or(load));
    const double kept = std::accumulate(wanted.begin(), wanted.end(), 0.0);

    RankLoads result;
    result.dropped = all > 0 ? std::max(0.0, 1 - kept / all) : 0;
    result.ofRank.assign(std::size_t(ranks), 0);
    for (std::size_t i = 0; i < count; ++i)
        result.ofRank[i * std::size_t(ranks) / count] += wanted[i];
    const double mean = kept / ranks; // of a rank that gets its part of everything
    for (double &load : result.ofRank)
        load = mean > 0 ? load / mean : 1;
    const auto fullest = std::ranges::max_element(result.ofRank);
    result.fullest = int(fullest - result.ofRank.begin());
    result.skew = *fullest;
    return result;
}

} // namespace trainyard
