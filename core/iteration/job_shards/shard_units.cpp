// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/job_shards/shard_units.h"

#include <algorithm>

namespace trainyard {

std::vector<JobUnit> unitsOf(ShardModel &model, const std::vector<Pieces> &shards)
{
    const int last = int(shards.size()) - 1;
    const double boundary = model.boundaryBytes();
    std::vector<JobUnit> units;
    for (int k = 0; k < last; ++k) {
        const ShardBytes &bytes = model.bytes(shards[std::size_t(k)]);
        units.push_back({ k, WorkKind::Forward, bytes.computed, bytes.computed, k > 0 ? boundary : 0, boundary,
            bytes.forward, boundary });
    }
    for (int k = last; k >= 0; --k) {
        const ShardBytes &bytes = model.bytes(shards[std::size_t(k)]);
        // The input of a backward that is not the last shard's comes from the host with its weights: what the unit
        // before it made is the gradient. Where that was taken, input and gradient are given back.
        const double saved = k > 0 && k < last ? boundary : 0, gradient = k > 0 ? boundary : 0;
        units.push_back({ k, k == last ? WorkKind::ForwardBackward : WorkKind::Backward, bytes.states + saved,
            bytes.states, last > 0 ? boundary : 0, gradient, bytes.backward, k < last ? -boundary : 0 });
    }
    return units;
}

std::vector<double> unitSecondsOf(ShardModel &model, const std::vector<Pieces> &shards, std::size_t kind)
{
    std::vector<double> seconds;
    std::vector<ShardSeconds> of;
    for (const Pieces shard : shards)
        of.push_back(model.seconds(shard, kind));
    for (std::size_t k = 0; k + 1 < of.size(); ++k)
        seconds.push_back(of[k].forward);
    for (std::size_t k = of.size(); k-- > 0;)
        seconds.push_back(
            of[k].forward + of[k].backward + of[k].step + (k + 1 == of.size() ? model.overhead(kind) : 0));
    return seconds;
}

double mostBoundaries(const std::vector<JobUnit> &units)
{
    double now = 0, most = 0;
    for (const JobUnit &unit : units)
        most = std::max(most, now += unit.hostAfter);
    return most;
}

} // namespace trainyard
