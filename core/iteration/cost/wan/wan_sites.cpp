// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/wan/wan_sites.h"

#include "core/iteration/cost/layer/layer_cost.h"
#include "core/iteration/placement/shard_exchange.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <span>

namespace trainyard {

namespace {

constexpr int kMostOrders = 5040; // of datacenters: all for 7 of them, all rings of 8
constexpr std::size_t kMostStarts = 16;
constexpr std::size_t kMostInTable = 64; // datacenters whose hops are found in a table of all pairs

/// In which order datacenters join a tree: always the first in line that a joined one reaches, over the one that joined
/// first. The one that stands at its place changes places with it.
class TreeOrder {
public:
    struct Next {
        std::uint32_t site;
        std::optional<std::uint32_t> from; // none: the first, or no link reaches it
    };

    explicit TreeOrder(std::size_t sites)
        : m_line(sites)
        , m_place(sites)
        , m_from(sites)
    {
        std::iota(m_line.begin(), m_line.end(), 0u);
        std::iota(m_place.begin(), m_place.end(), 0u);
    }

    std::optional<Next> takeNext()
    {
        if (m_joined == m_line.size())
            return std::nullopt;
        const std::size_t place = m_reached.empty() ? m_joined : *m_reached.begin();
        const std::uint32_t site = m_line[place], other = m_line[m_joined];
        m_reached.erase(place);
        m_line[place] = other;
        m_place[other] = place;
        m_line[m_joined] = site;
        m_place[site] = m_joined++;
        return Next { site, m_from[site] };
    }

    void reach(std::uint32_t site, std::uint32_t from)
    {
        if (m_place[site] < m_joined || m_from[site])
            return;
        m_from[site] = from;
        m_reached.insert(m_place[site]);
    }

private:
    std::vector<std::uint32_t> m_line; // of sites, those that joined first
    std::vector<std::size_t> m_place; // [site]
    std::vector<std::optional<std::uint32_t>> m_from; // [site]
    std::set<std::size_t> m_reached; // places in the line
    std::size_t m_joined = 0;
};

/// Looks at every order of up to seven datacenters, and every ring of eight. Of more it builds orders hop by hop,
/// always the shortest hop next, and turns stretches of the best one round as long as that helps; at most kMostOrders
/// orders in all. Only pairs that a link joins have a hop: the work grows with datacenters and links, not with pairs.
class RouteSearch {
public:
    using Order = std::vector<std::uint32_t>; // of sites

    RouteSearch(const Workload &workload, std::vector<ReplicaSite> sites, Bytes gradient, bool wholeNodes, int sharing)
        : m_work(workload)
        , m_sites(std::move(sites))
        , m_gradient(gradient)
        , m_wholeNodes(wholeNodes)
    {
        addHops(sharing);
    }

    SiteRoute run()
    {
        Order order(m_sites.size());
        std::iota(order.begin(), order.end(), 0u);
        look(order);
        // A ring may begin anywhere, so its first datacenter can stay where it is.
        const auto movable = order.begin() + (m_sites.size() > 7);
        if (m_sites.size() <= 8)
            while (std::next_permutation(movable, order.end()))
                look(order);
        if (m_sites.size() > 8 || m_best.missing > 0) {
            m_looked = 0;
            for (std::uint32_t start = 0; start < std::min(m_sites.size(), kMostStarts); ++start)
                look(nearestFirst(start));
            while (turnRound()) { }
        }
        SiteRoute route = m_best.missing > 0 ? tree() : through(m_bestOrder);
        route.looked = m_hopsLooked;
        return route;
    }

private:
    struct Hop {
        std::uint32_t to = 0;
        WanPath path;
        int nodePairs = 0;
        double rate = 0;
    };
    /// A route with hops that no link carries is none, but one with fewer of them may lead to one.
    struct Length {
        int missing = std::numeric_limits<int>::max();
        double seconds = 0;
        auto operator<=>(const Length &) const = default;
    };

    void addHops(int sharing)
    {
        const std::size_t sites = m_sites.size();
        std::vector<int> siteIn(m_work.plan->cluster.datacenters.size(), -1);
        for (std::size_t i = 0; i < sites; ++i)
            siteIn[std::size_t(m_sites[i].datacenter)] = int(i);
        for (const ReplicaSite &from : m_sites) {
            m_begin.push_back(m_hops.size());
            for (const auto &[datacenter, link] : m_work.links.peers(from.datacenter)) { // by datacenter, as sites are
                const int to = siteIn[std::size_t(datacenter)];
                const bool isKnown = m_hops.size() > m_begin.back() && m_hops.back().to == std::uint32_t(to);
                if (to >= 0 && datacenter != from.datacenter && !isKnown)
                    m_hops.push_back(hopBetween(from, std::uint32_t(to), sharing));
            }
        }
        m_begin.push_back(m_hops.size());
        if (sites > kMostInTable)
            return;
        m_table.assign(sites * sites, -1);
        for (std::size_t from = 0; from < sites; ++from)
            for (std::size_t i = m_begin[from]; i < m_begin[from + 1]; ++i)
                m_table[from * sites + m_hops[i].to] = int(i);
    }

    [[nodiscard]] Hop hopBetween(const ReplicaSite &from, std::uint32_t toSite, int sharing) const
    {
        const ReplicaSite &to = m_sites[toSite];
        Hop hop;
        hop.to = toSite;
        hop.path = wanPath(m_work, from.location, to.location);
        hop.nodePairs = m_wholeNodes ? std::min(from.nodes, to.nodes) : 1;
        if (hop.path.link >= 0) { // as if every reduction had an equal share of each link
            const WanLink &link = m_work.plan->cluster.wanLinks[std::size_t(hop.path.link)];
            hop.rate =
                std::min(hop.nodePairs * hop.path.nodePair.value, gbitsPerSecond(link.capacityGbps).value / sharing);
        }
        return hop;
    }

    [[nodiscard]] std::span<const Hop> hopsFrom(std::uint32_t site) const
    {
        return std::span(m_hops).subspan(m_begin[site], m_begin[site + 1] - m_begin[site]);
    }

    /// Without a link where none joins the two.
    [[nodiscard]] const Hop &hop(std::uint32_t from, std::uint32_t to) const
    {
        static const Hop none;
        ++m_hopsLooked;
        if (!m_table.empty()) {
            const int at = m_table[from * m_sites.size() + to];
            return at < 0 ? none : m_hops[std::size_t(at)];
        }
        const std::span<const Hop> hops = hopsFrom(from);
        const auto found = std::ranges::lower_bound(hops, to, {}, &Hop::to);
        return found == hops.end() || found->to != to ? none : *found;
    }
    [[nodiscard]] bool isMissing(std::uint32_t from, std::uint32_t to) const { return hop(from, to).path.link < 0; }
    [[nodiscard]] bool closes(const Order &order) const
    {
        return order.size() == 2 || hop(order.back(), order.front()).path.link >= 0;
    }

    [[nodiscard]] Length lengthOf(const Order &order) const
    {
        Length length { 0, 0 };
        double slowest = std::numeric_limits<double>::infinity();
        Seconds latency;
        const auto pass = [&](const Hop &next) {
            length.missing += next.path.link < 0;
            slowest = std::min(slowest, next.rate);
            latency += next.path.latency;
        };
        for (std::size_t i = 0; i + 1 < order.size(); ++i)
            pass(hop(order[i], order[i + 1]));
        const bool isRing = closes(order);
        if (isRing)
            pass(hop(order.back(), order.front()));
        if (length.missing > 0)
            return length;
        const double passes = isRing ? (double(order.size()) - 1) / double(order.size()) : 1;
        length.seconds = 2 * passes * (m_gradient.value / slowest + latency.value);
        return length;
    }

    bool look(const Order &order)
    {
        ++m_looked;
        const Length length = lengthOf(order);
        if (length >= m_best)
            return false;
        m_best = length;
        m_bestOrder = order;
        return true;
    }

    /// Over the shortest hop to a datacenter that is not passed yet; where there is none, to the first such.
    [[nodiscard]] Order nearestFirst(std::uint32_t start) const
    {
        Order order { start };
        std::vector<bool> isTaken(m_sites.size());
        isTaken[start] = true;
        std::uint32_t firstLeft = 0;
        while (order.size() < m_sites.size()) {
            const Hop *nearest = nullptr;
            double shortest = 0;
            for (const Hop &there : hopsFrom(order.back())) {
                ++m_hopsLooked;
                const double seconds = m_gradient.value / there.rate + there.path.latency.value;
                if (!isTaken[there.to] && (!nearest || seconds < shortest)) {
                    shortest = seconds;
                    nearest = &there;
                }
            }
            while (isTaken[firstLeft])
                ++firstLeft;
            const std::uint32_t next = nearest ? nearest->to : firstLeft;
            isTaken[next] = true;
            order.push_back(next);
        }
        return order;
    }

    /// Hops without a link that a stretch turned round has more than the best order: those at its ends. Links carry
    /// both ways, so that the others stay as many.
    [[nodiscard]] int missingIfTurned(std::size_t from, std::size_t to) const
    {
        int more = 0;
        if (from > 0)
            more += isMissing(m_bestOrder[from - 1], m_bestOrder[to - 1])
                - isMissing(m_bestOrder[from - 1], m_bestOrder[from]);
        if (to < m_bestOrder.size())
            more += isMissing(m_bestOrder[from], m_bestOrder[to]) - isMissing(m_bestOrder[to - 1], m_bestOrder[to]);
        return more;
    }

    /// One round over all stretches of the best order; false where none helps or enough orders were looked at.
    bool turnRound()
    {
        bool helped = false;
        for (std::size_t from = 0; from + 1 < m_sites.size(); ++from) {
            for (std::size_t to = from + 2; to <= m_sites.size() && m_looked < kMostOrders; ++to) {
                const int more = missingIfTurned(from, to);
                if (more > 0 || (more == 0 && m_best.missing > 0)) { // no better, without being added up
                    ++m_looked;
                    continue;
                }
                Order turned = m_bestOrder;
                std::reverse(turned.begin() + std::ptrdiff_t(from), turned.begin() + std::ptrdiff_t(to));
                helped |= look(turned);
            }
        }
        return helped && m_looked < kMostOrders;
    }

    void add(SiteRoute &route, std::uint32_t from, std::uint32_t to) const
    {
        route.hops.push_back(hop(from, to).path);
        route.nodePairs.push_back(hop(from, to).nodePairs);
    }

    [[nodiscard]] SiteRoute through(const Order &order) const
    {
        SiteRoute route;
        for (std::size_t i = 0; i + 1 < order.size(); ++i)
            add(route, order[i], order[i + 1]);
        route.isRing = closes(order);
        if (route.isRing)
            add(route, order.back(), order.front());
        return route;
    }

    /// No route passes every datacenter once (a star, say): up and down a tree of direct links.
    [[nodiscard]] SiteRoute tree() const
    {
        SiteRoute route;
        TreeOrder order(m_sites.size());
        while (const auto next = order.takeNext()) {
            if (next->from)
                add(route, *next->from, next->site);
            for (const Hop &there : hopsFrom(next->site)) {
                ++m_hopsLooked;
                order.reach(there.to, next->site);
            }
        }
        return route;
    }

    const Workload &m_work;
    std::vector<ReplicaSite> m_sites;
    Bytes m_gradient;
    bool m_wholeNodes;
    std::vector<Hop> m_hops; // over links alone, by either end
    std::vector<std::size_t> m_begin; // [from]: its first hop
    std::vector<int> m_table; // [from * sites + to]: which hop, or -1; empty of many datacenters
    Order m_bestOrder;
    Length m_best;
    int m_looked = 0;
    mutable std::int64_t m_hopsLooked = 0;
};

} // namespace

bool reducesFlat(const Workload &workload, const std::vector<ReplicaSite> &sites)
{
    const Plan &plan = *workload.plan;
    if (plan.wan.allReduce != WanAllReduce::Flat || sites.size() < 2 || trainsLocally(workload))
        return false;
    return sites.front().ranks <= 1 || shardExchange(plan, workload.stack) == ShardExchange::Once;
}

Seconds SiteRoute::latency() const
{
    Seconds sum;
    for (const WanPath &hop : hops)
        sum += hop.latency;
    return sum;
}

SiteRoute siteRoute(
    const Workload &workload, std::vector<ReplicaSite> sites, Bytes gradient, bool wholeNodes, int sharing)
{
    return RouteSearch(workload, std::move(sites), gradient, wholeNodes, sharing).run();
}

} // namespace trainyard
