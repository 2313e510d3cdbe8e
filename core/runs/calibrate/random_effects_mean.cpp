// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/calibrate/random_effects_mean.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

struct Sums {
    double weights = 0, squares = 0, values = 0;
    [[nodiscard]] double mean() const { return values / weights; }
};

Sums sumsOf(const std::vector<RankValue> &values, double between)
{
    Sums sums;
    for (const RankValue &one : values) {
        const double weight = 1 / (one.error * one.error + between);
        sums.weights += weight, sums.squares += weight * weight, sums.values += weight * one.value;
    }
    return sums;
}

} // namespace

RankValue randomEffectsMean(const std::vector<RankValue> &values)
{
    if (values.empty())
        return {};
    if (!std::ranges::all_of(values, [](const RankValue &one) { return one.error > 0; })) {
        double sum = 0;
        for (const RankValue &one : values)
            sum += one.value;
        return { sum / double(values.size()), 0 };
    }
    const Sums own = sumsOf(values, 0);
    double scatter = 0;
    for (const RankValue &one : values)
        scatter += std::pow((one.value - own.mean()) / one.error, 2);
    const double left = own.weights - own.squares / own.weights;
    const double between = left > 0 ? std::max(0.0, (scatter - double(values.size() - 1)) / left) : 0;
    const Sums all = sumsOf(values, between);
    return { all.mean(), 1 / std::sqrt(all.weights) };
}

} // namespace trainyard
