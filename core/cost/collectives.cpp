// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/collectives.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

/// A reduce-scatter or all-gather of `size` among n ranks of one link: (n - 1) / n of the tensor passes each rank.
Seconds ringHalf(Bytes size, int n, const Link &link)
{
    return n > 1 ? transferTime(size * (double(n - 1) / n), n - 1, link) : Seconds{};
}

/// A tree pipelines the whole tensor up and down: twice the volume, logarithmic depth.
Seconds treeAllReduce(Bytes size, int n, const Link &link)
{
    return transferTime(size * 2, 2 * std::ceil(std::log2(double(n))), link);
}

Seconds halfTime(Bytes size, const RankGroup &group)
{
    if (group.ranks <= 1)
        return {};
    const int local = std::min(group.ranksPerNode, group.ranks);
    return ringHalf(size, local, group.inside) + ringHalf(size / double(local), group.nodes(), group.between);
}

} // namespace

Link deviceLink(const GpuSpec &gpu, const NetworkSpec &network)
{
    return gpu.linkGBps > 0 ? Link{gbytesPerSecond(gpu.linkGBps), &network.device}
                            : Link{gbytesPerSecond(gpu.pcieGBps), &network.pcie};
}

Link fabricLink(BytesPerSecond perGpu, const NetworkSpec &network)
{
    return {perGpu, &network.fabric};
}

Seconds transferTime(Bytes volume, double steps, const Link &link)
{
    const LinkClass &kind = *link.kind;
    const double v = volume.value;
    return microseconds(kind.startUs + steps * kind.stepUs + (v > 0 ? kind.rampUs * v / (v + kind.rampBytes) : 0))
        + volume / BytesPerSecond{link.bandwidth.value * kind.fraction};
}

Seconds allReduceTime(Bytes size, const RankGroup &group)
{
    if (group.ranks <= 1)
        return {};
    const int local = std::min(group.ranksPerNode, group.ranks), nodes = group.nodes();
    const auto level = [](Bytes part, int n, const Link &link) {
        if (n <= 1)
            return Seconds{};
        // One kernel does both halves of the ring: one start, one ramp, both volumes.
        const Seconds ring = transferTime(part * (2.0 * (n - 1) / n), 2.0 * (n - 1), link);
        return std::min(ring, treeAllReduce(part, n, link));
    };
    return level(size, local, group.inside) + level(size / double(local), nodes, group.between);
}

Seconds reduceScatterTime(Bytes size, const RankGroup &group)
{
    return halfTime(size, group);
}

Seconds allGatherTime(Bytes size, const RankGroup &group)
{
    return halfTime(size, group);
}

Seconds allToAllTime(Bytes size, const RankGroup &group)
{
    if (group.ranks <= 1)
        return {};
    const int local = std::min(group.ranksPerNode, group.ranks);
    const double insideShare = double(local - 1) / group.ranks, betweenShare = double(group.ranks - local) / group.ranks;
    const Seconds inside = local > 1 ? transferTime(size * insideShare, local - 1, group.inside) : Seconds{};
    const Seconds between = betweenShare > 0 ? transferTime(size * betweenShare, group.nodes() - 1, group.between) : Seconds{};
    return std::max(inside, between);
}

Seconds expertDispatchTime(const ExpertTraffic &traffic, const RankGroup &group)
{
    return allToAllTime(traffic.tokenBytes * traffic.tokens * double(traffic.choices), group);
}

Seconds expertCombineTime(const ExpertTraffic &traffic, const RankGroup &group)
{
    return expertDispatchTime(traffic, group);
}

} // namespace trainyard
