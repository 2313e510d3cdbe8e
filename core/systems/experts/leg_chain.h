#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The legs of an exchange while it is put together (exchange.cpp, exchange_families.cpp): how many pieces share a
// start, what comes behind what came before, and the collectives of which exchanges are made. Times are those of
// core/facts/network/collectives.h, split into what every piece pays and what pieces share.

#include "core/systems/experts/exchange.h"

namespace trainyard {

class LegChain {
public:
    /// `slower`: what an uneven load makes of an all-to-all's time.
    LegChain(const ExchangeRequest &request, int pieces, double slower);

    /// `size` bytes of each rank, as much to every rank of the group (its own part among it): parts over NVLink, NICs
    /// and the WAN side by side, behind all that is there.
    void allToAll(double size);
    /// The same in two steps, behind each other: inside nodes, then between them, with a copy before, between and
    /// after.
    void allToAllInTwo(double size);
    /// A token once to each place that it visits: over NICs and the WAN to nodes, and handed on inside, at once.
    void deduplicated(double tokenBytes);
    /// Tokens of all ranks to all (`isScatter`: and added up, the other way).
    void gatherAll(double size, bool isScatter);
    /// `size`: the whole tensor on one rank.
    void gather(double size, const RankGroup &group);
    void scatter(double size, const RankGroup &group);
    void reduce(double size, const RankGroup &group);
    /// Read and written once.
    void copy(double size);

    [[nodiscard]] Exchange take(double logicalBytes, double sms);

private:
    struct Moved {
        Seconds start, moving;
    };
    [[nodiscard]] Moved moved(Bytes volume, double steps, const Link &link) const;
    [[nodiscard]] Moved ring(double size, int ranks, const Link &link) const;
    /// `from`: legs before this one that were there when a step began; behind them all.
    void add(Way way, double bytes, Moved time, int from, double nvlinkToo = 0);
    void overWan(double bytes, int from, WanCopies copies = WanCopies::EachRank);
    void between(double size, const RankGroup &group);
    void inside(double size, const RankGroup &group);

    const ExchangeRequest &m_request;
    const ExpertGroup &m_group;
    double m_slower;
    /// ranks of the site that has the fewest: they send most elsewhere
    int m_here;
    /// of them in one node
    int m_local;
    /// of all sites
    int m_nodes;
    Exchange m_exchange;
};

} // namespace trainyard
