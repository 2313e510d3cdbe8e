// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/network/collectives.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

/// A reduce-scatter or all-gather of `size` among n ranks of one link: (n - 1) / n of the tensor passes each rank, and
/// the rank's own part is copied.
Seconds ringHalf(Bytes size, int n, const Link &link)
{
    if (n <= 1)
        return {};
    return transferTime(size * ((n - 1 + link.kind->ownShare) / n), n - 1, link);
}

/// The best of: a ring; a tree, which pipelines the whole tensor up and down, twice the volume in logarithmic depth;
/// and a reduction inside the switches of the link. `around`: steps of the ring over other links.
Seconds levelAllReduce(Bytes size, int n, const Link &link, Seconds around = {})
{
    if (n <= 1)
        return {};
    // One kernel does both halves of the ring: one start, one ramp, both volumes.
    const Bytes volume = size * (2.0 * (n - 1) / n / link.kind->reduceGain);
    const Seconds ring = transferTime(volume, 2.0 * (n - 1), link) + around;
    const Seconds tree = transferTime(size * (2 / link.kind->reduceGain), 2 * std::ceil(std::log2(double(n))), link);
    Seconds best = std::min(ring, tree);
    if (link.kind->switchGain > 0 && n >= link.kind->switchRanks)
        best = std::min(best, transferTime(volume / link.kind->switchGain, 2.0 * (n - 1), link));
    return best;
}

/// One ring through all ranks passes every node: n - 1 steps of which all but those between nodes are inside one. Its
/// bytes are those of a ring inside a node and one between nodes; of its steps those are counted with them, these here.
Seconds aroundNodes(const RankGroup &group, double times)
{
    const int local = std::min(group.ranksPerNode, group.ranks), nodes = group.nodes();
    return nodes <= 1 || local <= 1
        ? Seconds {}
        : microseconds(times * double(nodes - 1) * (local - 1) * group.inside.kind->ringStepUs);
}

Seconds halfTime(Bytes size, const RankGroup &group)
{
    if (group.ranks <= 1)
        return {};
    const int local = std::min(group.ranksPerNode, group.ranks);
    return ringHalf(size, local, group.inside) + ringHalf(size / double(local), group.nodes(), group.between)
        + aroundNodes(group, 1);
}

} // namespace

Link deviceLink(const GpuSpec &gpu, const NetworkSpec &network)
{
    if (gpu.linkGBps <= 0)
        return { gbytesPerSecond(gpu.pcieGBps), &network.pcie };
    const auto generation = std::ranges::find_if(network.generations,
        [&](const DeviceLinkClass &known) { return gpu.architecture.starts_with(known.architecture); });
    return { gbytesPerSecond(gpu.linkGBps),
        generation != network.generations.end() ? &generation->link : &network.device };
}

Link fabricLink(BytesPerSecond perGpu, const NetworkSpec &network)
{
    return { perGpu, &network.fabric };
}

Link tcpLink(BytesPerSecond perGpu, int gpusPerNode, const NetworkSpec &network)
{
    const TcpLinkClass *nearest = &network.tcp.front();
    for (const TcpLinkClass &measured : network.tcp)
        nearest = measured.gpusPerNode <= gpusPerNode ? &measured : nearest;
    return { perGpu, &nearest->region };
}

Seconds transferTime(Bytes volume, double steps, const Link &link)
{
    const LinkClass &kind = *link.kind;
    const double v = volume.value;
    return microseconds(kind.startUs + steps * kind.stepUs + (v > 0 ? kind.rampUs * v / (v + kind.rampBytes) : 0))
        + volume / BytesPerSecond { link.bandwidth.value * kind.fraction };
}

Seconds allReduceTime(Bytes size, const RankGroup &group)
{
    if (group.ranks <= 1)
        return {};
    const int local = std::min(group.ranksPerNode, group.ranks);
    return levelAllReduce(size, local, group.inside)
        + levelAllReduce(size / double(local), group.nodes(), group.between, aroundNodes(group, 2));
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
    const auto exchange = [&](double volume, int peers, const Link &link) {
        return transferTime(size * (volume / link.kind->exchangeGain), std::ceil(std::log2(double(peers))), link);
    };
    const double insideShare = (local - 1 + group.inside.kind->ownShare) / group.ranks;
    const double betweenShare = double(group.ranks - local) / group.ranks;
    const Seconds inside = local > 1 ? exchange(insideShare, local, group.inside) : Seconds {};
    const Seconds between = betweenShare > 0 ? exchange(betweenShare, group.nodes(), group.between) : Seconds {};
    return std::max(inside, between);
}

Seconds expertDispatchTime(const ExpertTraffic &traffic, const RankGroup &group)
{
    if (group.ranks <= 1)
        return {};
    // Of r ranks drawn with return, a token with c choices meets r (1 - (1 - 1/r)^c): c for few choices, r for many.
    const auto distinct = [&](double among) { return among * (1 - std::pow(1 - 1 / among, traffic.choices)); };
    const int local = std::min(group.ranksPerNode, group.ranks), nodes = group.nodes();
    const LinkClass &kind = *group.inside.kind;
    const BytesPerSecond rate = group.inside.bandwidth;
    const Bytes tokens = traffic.tokenBytes * traffic.tokens;
    const Seconds inside = microseconds(kind.expertStartUs)
        + tokens * (traffic.ranks > 0 ? traffic.ranks : distinct(group.ranks)) / (rate * kind.expertFraction)
        + tokens / (rate * kind.expertPassFraction);
    if (nodes <= 1)
        return inside;
    // Between nodes a token crosses once a node that it visits, to the rank of its own number, which hands it on
    // inside: what the links inside a node carry stays the same.
    const double away = (traffic.nodes > 0 ? traffic.nodes : distinct(nodes)) * (nodes - 1) / nodes;
    const Seconds between = transferTime(
        tokens * (away / group.between.kind->exchangeGain), std::ceil(std::log2(double(nodes))), group.between);
    return std::max(local > 1 ? inside : Seconds {}, between);
}

} // namespace trainyard
