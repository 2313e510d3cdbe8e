// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/job_shards/partition.h"

#include <numeric>

namespace trainyard {

Partition greedyPartition(int pieces, const std::function<bool(Pieces)> &fits)
{
    Partition partition;
    for (Pieces next { 0, 1 }; next.first < pieces; next = { next.last, next.last + 1 }) {
        if (!fits(next))
            return { {}, next.first };
        while (next.last < pieces && fits({ next.first, next.last + 1 }))
            ++next.last;
        partition.shards.push_back(next);
    }
    return partition;
}

std::vector<Pieces> evenPartition(const std::vector<double> &weights, int count)
{
    const int pieces = int(weights.size());
    double left = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<Pieces> shards;
    for (int first = 0; count > 0; --count) {
        Pieces shard { first, first + 1 };
        double taken = weights[std::size_t(first)];
        const double fair = left / count;
        const auto comesNearer = [&] { // with the next piece than without it
            const double more = taken + weights[std::size_t(shard.last)];
            return more - fair <= fair - taken;
        };
        while (pieces - shard.last > count - 1 && (count == 1 || comesNearer()))
            taken += weights[std::size_t(shard.last++)];
        left -= taken;
        first = shard.last;
        shards.push_back(shard);
    }
    return shards;
}

} // namespace trainyard
