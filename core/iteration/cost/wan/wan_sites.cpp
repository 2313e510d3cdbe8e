// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/wan/wan_sites.h"

#include "core/iteration/cost/layer/layer_cost.h"
#include "core/iteration/placement/shard_exchange.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace trainyard {

namespace {

constexpr int kMostOrders = 5040; // of datacenters: all for 7 of them, all rings of 8
constexpr std::size_t kMostStarts = 16;

/// Looks at every order of up to seven datacenters, and every ring of eight. Of more it builds orders hop by hop,
/// always the shortest hop next, and turns stretches of the best one round as long as that helps; at most kMostOrders
/// orders in all.
class RouteSearch {
public:
    using Order = std::vector<std::uint32_t>; // of sites

    RouteSearch(const Workload &workload, std::vector<ReplicaSite> sites, Bytes gradient, bool wholeNodes, int sharing)
        : m_work(workload)
        , m_sites(std::move(sites))
        , m_gradient(gradient)
        , m_wholeNodes(wholeNodes)
    {
        for (const ReplicaSite &from : m_sites)
            for (const ReplicaSite &to : m_sites)
                m_hops.push_back(hopBetween(from, to, sharing));
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
        return m_best.missing > 0 ? tree() : through(m_bestOrder);
    }

private:
    struct Hop {
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

    [[nodiscard]] Hop hopBetween(const ReplicaSite &from, const ReplicaSite &to, int sharing) const
    {
        Hop hop;
        if (from.datacenter == to.datacenter)
            return hop;
        hop.path = wanPath(m_work, from.location, to.location);
        hop.nodePairs = m_wholeNodes ? std::min(from.nodes, to.nodes) : 1;
        if (hop.path.link >= 0) { // as if every reduction had an equal share of each link
            const WanLink &link = m_work.plan->cluster.wanLinks[std::size_t(hop.path.link)];
            hop.rate =
                std::min(hop.nodePairs * hop.path.nodePair.value, gbitsPerSecond(link.capacityGbps).value / sharing);
        }
        return hop;
    }

    [[nodiscard]] const Hop &hop(std::uint32_t from, std::uint32_t to) const
    {
        return m_hops[from * m_sites.size() + to];
    }
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

    [[nodiscard]] Order nearestFirst(std::uint32_t start) const
    {
        Order order { start };
        std::vector<bool> isTaken(m_sites.size());
        isTaken[start] = true;
        while (order.size() < m_sites.size()) {
            Length shortest;
            std::uint32_t nearest = 0;
            for (std::uint32_t next = 0; next < m_sites.size(); ++next) {
                const Hop &there = hop(order.back(), next);
                const bool isMissing = there.path.link < 0;
                const Length length { isMissing,
                    isMissing ? 0 : m_gradient.value / there.rate + there.path.latency.value };
                if (!isTaken[next] && length < shortest) {
                    shortest = length;
                    nearest = next;
                }
            }
            isTaken[nearest] = true;
            order.push_back(nearest);
        }
        return order;
    }

    /// One round over all stretches of the best order; false where none helps or enough orders were looked at.
    bool turnRound()
    {
        bool helped = false;
        for (std::ptrdiff_t from = 0; from + 1 < std::ptrdiff_t(m_sites.size()); ++from) {
            for (std::ptrdiff_t to = from + 2; to <= std::ptrdiff_t(m_sites.size()) && m_looked < kMostOrders; ++to) {
                Order turned = m_bestOrder;
                std::reverse(turned.begin() + from, turned.begin() + to);
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
        Order sites(m_sites.size());
        std::iota(sites.begin(), sites.end(), 0u);
        for (std::size_t joined = 1; joined < sites.size(); ++joined) {
            for (std::size_t next = joined; next < sites.size() && route.hops.size() < joined; ++next) {
                for (std::size_t from = 0; from < joined && route.hops.size() < joined; ++from) {
                    if (hop(sites[from], sites[next]).path.link < 0)
                        continue;
                    add(route, sites[from], sites[next]);
                    std::swap(sites[joined], sites[next]);
                }
            }
        }
        return route;
    }

    const Workload &m_work;
    std::vector<ReplicaSite> m_sites;
    Bytes m_gradient;
    bool m_wholeNodes;
    std::vector<Hop> m_hops; // [from * sites + to]
    Order m_bestOrder;
    Length m_best;
    int m_looked = 0;
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
