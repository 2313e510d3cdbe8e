// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/experts/leg_chain.h"

#include "core/systems/experts/fan_out.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

int fewestOfASite(const ExpertGroup &group)
{
    return group.sites() > 1 ? *std::ranges::min_element(group.perSite) : group.ranks;
}

int nodesOf(const ExpertGroup &group)
{
    if (group.sites() <= 1)
        return group.nodes();
    int nodes = 0;
    for (const int ranks : group.perSite)
        nodes += (ranks + group.together - 1) / group.together;
    return nodes;
}

double logSteps(int peers)
{
    return std::ceil(std::log2(double(peers)));
}

} // namespace

LegChain::LegChain(const ExchangeRequest &request, int pieces, double slower)
    : m_request(request)
    , m_group(request.group)
    , m_slower(slower)
    , m_here(fewestOfASite(request.group))
    , m_local(std::min(request.group.together, m_here))
    , m_nodes(nodesOf(request.group))
{
    m_exchange.pieces = pieces;
}

LegChain::Moved LegChain::moved(Bytes volume, double steps, const Link &link) const
{
    const LinkClass &kind = *link.kind;
    const double piece = volume.value / m_exchange.pieces;
    return { microseconds(
                 kind.startUs + steps * kind.stepUs + (piece > 0 ? kind.rampUs * piece / (piece + kind.rampBytes) : 0)),
        volume / BytesPerSecond { link.bandwidth.value * kind.fraction } };
}

LegChain::Moved LegChain::ring(double size, int ranks, const Link &link) const
{
    return moved(Bytes { size * ((ranks - 1 + link.kind->ownShare) / ranks) }, ranks - 1, link);
}

void LegChain::add(Way way, double bytes, Moved time, int from, double nvlinkToo)
{
    Leg leg { way, bytes, time.start, time.moving };
    leg.nvlinkToo = nvlinkToo;
    // Of the legs that were there the one that ends last when alone; where others ran beside it, behind all of them.
    std::vector<double> ends(m_exchange.legs.size());
    for (int i = 0; i < from; ++i) {
        const Leg &earlier = m_exchange.legs[std::size_t(i)];
        double begin = 0;
        for (int k = 0; k < i; ++k)
            begin = earlier.afterAll || k == earlier.after ? std::max(begin, ends[std::size_t(k)]) : begin;
        ends[std::size_t(i)] = begin + earlier.alone().value;
        leg.after = leg.after < 0 || ends[std::size_t(i)] > ends[std::size_t(leg.after)] ? i : leg.after;
    }
    leg.afterAll = from > 1;
    m_exchange.legs.push_back(leg);
}

void LegChain::overWan(double bytes, int from, WanCopies copies)
{
    if (m_group.sites() <= 1 || bytes <= 0)
        return;
    add(Way::Wan, bytes, { {}, Bytes { bytes } / m_group.wan.bandwidthOf(copies) * m_slower }, from);
    m_exchange.legs.back().lag = m_group.wan.latency; // bytes on their way take nothing of the link
}

void LegChain::allToAll(double size)
{
    if (m_group.ranks <= 1)
        return;
    const int from = int(m_exchange.legs.size());
    const double part = size / m_group.ranks;
    const auto exchange = [&](double parts, int peers, const Link &link) {
        Moved time = moved(Bytes { size } * (parts / m_group.ranks / link.kind->exchangeGain), logSteps(peers), link);
        time.moving *= m_slower;
        return time;
    };
    if (m_local > 1)
        add(Way::Nvlink, part * (m_local - 1),
            exchange(m_local - 1 + m_group.inside.kind->ownShare, m_local, m_group.inside), from);
    if (m_here > m_local) {
        // NICs of one node serve a rail each: what goes to another rail crosses NVLink to its NIC first (PXN).
        const double away = part * (m_here - m_local);
        add(Way::Nic, away, exchange(m_here - m_local, (m_here + m_local - 1) / m_local, m_group.between), from,
            away * (m_local - 1) / m_local);
    }
    overWan(part * (m_group.ranks - m_here), from);
}

void LegChain::allToAllInTwo(double size)
{
    if (m_nodes <= 1 || m_local <= 1) // one step is all there is
        return allToAll(size);
    const auto exchange = [&](double volume, int peers, const Link &link) {
        Moved time = moved(Bytes { volume / link.kind->exchangeGain }, logSteps(peers), link);
        time.moving *= m_slower;
        return time;
    };
    const double part = size / m_group.ranks;
    copy(size);
    add(Way::Nvlink, size * (m_local - 1) / m_local,
        exchange(size * (m_local - 1 + m_group.inside.kind->ownShare) / m_local, m_local, m_group.inside),
        int(m_exchange.legs.size()));
    copy(size);
    const int from = int(m_exchange.legs.size());
    if (m_here > m_local)
        add(Way::Nic, part * (m_here - m_local),
            exchange(part * (m_here - m_local), (m_here + m_local - 1) / m_local, m_group.between), from);
    overWan(part * (m_group.ranks - m_here), from);
    copy(size);
}

void LegChain::deduplicated(double tokenBytes)
{
    if (m_group.ranks <= 1)
        return;
    const int from = int(m_exchange.legs.size());
    const ExpertTokens &tokens = m_request.tokens;
    const double all = tokens.tokens * tokenBytes;
    const double ranks = placesVisited(m_group.ranks, tokens);
    const LinkClass &kind = *m_group.inside.kind;
    if (m_local > 1 || m_nodes <= 1) {
        // Handing on inside: as measured in one node, where the rank's own part counts as well.
        const BytesPerSecond rate = m_group.inside.bandwidth;
        add(Way::Nvlink, all * ranks * (m_local - 1) / m_local,
            { microseconds(kind.expertStartUs),
                (Bytes { all } * ranks / (rate * kind.expertFraction)
                    + Bytes { all } / (rate * kind.expertPassFraction))
                    * m_slower },
            from);
    }
    if (m_nodes <= 1)
        return;
    // To each other datacenter that a token visits it goes once, to a node that wants it, and from there to the others.
    double sites = 0;
    bool isOwn = true;
    for (const int site : m_group.perSite) {
        const bool skipped = isOwn && site == m_here;
        isOwn = isOwn && !skipped;
        sites += skipped || m_group.sites() <= 1 ? 0 : visitChance(double(site) / m_group.ranks, tokens);
    }
    const double away = std::max(0.0, otherPlacesVisited(m_nodes, tokens) - sites);
    if (away > 0) {
        Moved time =
            moved(Bytes { all } * (away / m_group.between.kind->exchangeGain), logSteps(m_nodes), m_group.between);
        time.moving *= m_slower;
        add(Way::Nic, all * away, time, from);
    }
    overWan(all * sites, from, WanCopies::VisitedSites);
}

void LegChain::between(double size, const RankGroup &group)
{
    const int nodes = group.nodes(), local = std::min(group.ranksPerNode, group.ranks);
    if (nodes <= 1)
        return;
    Moved time = ring(size / local, nodes, group.between);
    if (local > 1)
        time.start += microseconds(double(nodes - 1) * (local - 1) * group.inside.kind->ringStepUs);
    add(Way::Nic, size / local * (nodes - 1) / nodes, time, int(m_exchange.legs.size()));
}

void LegChain::inside(double size, const RankGroup &group)
{
    const int local = std::min(group.ranksPerNode, group.ranks);
    if (local > 1)
        add(Way::Nvlink, size * (local - 1) / local, ring(size, local, group.inside), int(m_exchange.legs.size()));
}

void LegChain::gather(double size, const RankGroup &group)
{
    between(size, group);
    inside(size, group);
}

void LegChain::scatter(double size, const RankGroup &group)
{
    inside(size, group);
    between(size, group);
}

void LegChain::gatherAll(double size, bool isScatter)
{
    if (m_group.ranks <= 1)
        return;
    // Every rank of a site brings its part of what the other sites have.
    const double elsewhere = size * (m_group.ranks - m_here) / m_group.ranks / m_here;
    const RankGroup site { m_here, m_group.together, m_group.inside, m_group.between };
    if (isScatter)
        scatter(size, site);
    overWan(elsewhere, int(m_exchange.legs.size()), WanCopies::EachSite);
    if (!isScatter)
        gather(size, site);
}

void LegChain::reduce(double size, const RankGroup &group)
{
    if (group.ranks <= 1)
        return;
    const int local = std::min(group.ranksPerNode, group.ranks), pieces = m_exchange.pieces;
    const auto level = [&](Way way, double bytes, Seconds piece, const Link &link) {
        // What bytes take is shared among pieces, the rest each pays.
        const Seconds moving =
            std::min(piece * pieces, Bytes { bytes } / BytesPerSecond { link.bandwidth.value * link.kind->fraction });
        add(way, bytes, { piece - moving / pieces, moving }, int(m_exchange.legs.size()));
    };
    const Bytes piece { size / pieces };
    const Seconds within = allReduceTime(piece, { local, local, group.inside, group.inside });
    if (local > 1)
        level(Way::Nvlink, 2 * size * (local - 1) / local, within, group.inside);
    if (group.nodes() > 1)
        level(Way::Nic, 2 * size / local * (group.nodes() - 1) / group.nodes(), allReduceTime(piece, group) - within,
            group.between);
}

void LegChain::copy(double size)
{
    const GpuSpec &gpu = *m_request.gpu;
    add(Way::Memory, 2 * size,
        { microseconds(gpu.gemm.launchUs),
            Bytes { 2 * size } / (gbytesPerSecond(gpu.memoryGBps) * gpu.gemm.memoryFraction) },
        int(m_exchange.legs.size()));
}

Exchange LegChain::take(double logicalBytes, double sms)
{
    m_exchange.logicalBytes = logicalBytes;
    m_exchange.sms = m_request.communicationSms >= 0 ? m_request.communicationSms : sms;
    return std::move(m_exchange);
}

} // namespace trainyard
