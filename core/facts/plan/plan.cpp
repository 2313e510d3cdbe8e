// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/plan.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace trainyard {

namespace {

int clampedToInt(std::int64_t value)
{
    return static_cast<int>(std::min<std::int64_t>(value, std::numeric_limits<int>::max()));
}

/// Mean growth of the last points, at most five, for what lies beyond them.
constexpr std::size_t kEndPoints = 5;

} // namespace

bool RankPin::isAbout(const Pool &of) const
{
    return pool.empty() || pool == of.id || pool == (of.inlineGpu ? of.inlineGpu->id : of.gpu);
}

double TimeByMicroBatch::at(int microBatch) const
{
    if (measured.empty())
        return slope * microBatch + intercept;
    if (measured.size() == 1)
        return measured.begin()->second * microBatch / measured.begin()->first;
    const auto line = [&](const auto &from, const auto &to) {
        return from.second + (to.second - from.second) * (microBatch - from.first) / (to.first - from.first);
    };
    const auto next = measured.lower_bound(microBatch);
    if (next == measured.end()) {
        const auto last = std::prev(measured.end());
        const auto first = std::prev(last, std::ptrdiff_t(std::min(kEndPoints, measured.size()) - 1));
        return last->second
            + (last->second - first->second) / (last->first - first->first) * (microBatch - last->first);
    }
    if (next->first == microBatch)
        return next->second;
    return next == measured.begin() ? std::max(0.0, line(*next, *std::next(next))) : line(*std::prev(next), *next);
}

double GpuLayerTimes::computeGibAt(int microBatch) const
{
    const std::size_t size = computeGib.size(), wanted = std::size_t(microBatch);
    if (wanted <= size)
        return computeGib[wanted - 1];
    const std::size_t points = std::min(kEndPoints, size);
    const double growth =
        points > 1 ? (computeGib[size - 1] - computeGib[size - points]) / double(points - 1) : computeGib[size - 1];
    return computeGib[size - 1] + std::max(0.0, growth) * double(wanted - size);
}

int Datacenter::gpus() const
{
    std::int64_t sum = 0;
    for (const Pool &pool : pools)
        sum += std::int64_t { pool.nodes } * pool.gpusPerNode;
    return clampedToInt(sum);
}

int Cluster::gpus() const
{
    std::int64_t sum = 0;
    for (const Datacenter &datacenter : datacenters)
        sum += datacenter.gpus();
    return clampedToInt(sum);
}

int Cluster::indexOf(std::string_view datacenterId) const
{
    const auto found = std::ranges::find(datacenters, datacenterId, &Datacenter::id);
    return found == datacenters.end() ? -1 : static_cast<int>(found - datacenters.begin());
}

int Cluster::linkBetween(std::string_view a, std::string_view b) const
{
    const auto joins = [&](const WanLink &link) {
        return (link.between[0] == a && link.between[1] == b) || (link.between[0] == b && link.between[1] == a);
    };
    const auto found = std::ranges::find_if(wanLinks, joins);
    return found == wanLinks.end() ? -1 : static_cast<int>(found - wanLinks.begin());
}

Doubts doubtsOfSources(const Plan &plan)
{
    Doubts doubts;
    for (const NotUnderstood &one : plan.notUnderstood)
        doubts.push_back({ one.key, one.text, one.low, one.high, one.isBlocking, true });
    return doubts;
}

} // namespace trainyard
