// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/wan/expert_wan.h"

#include "core/iteration/placement/ranks.h"
#include "core/iteration/placement/stage_ranks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace trainyard {

namespace {

struct Node {
    StageLocation at;
    int index = 0;
    auto operator<=>(const Node &o) const
    {
        return std::tuple(at.datacenter, at.pool, index) <=> std::tuple(o.at.datacenter, o.at.pool, o.index);
    }
    bool operator==(const Node &) const = default;
};

/// What one rank of a group sends to another datacenter, in copies of its tokens (wanCopiesTo).
struct Copies {
    WanCopies kind;
    const ExpertTokens &tokens;
    int ranks = 1; // of a group

    [[nodiscard]] double inDispatch(int, int there) const { return wanCopiesTo(kind, there, ranks, tokens); }
    [[nodiscard]] double inCombine(int here, int there) const
    {
        return wanCopiesTo(kind, here, ranks, tokens) * there / here;
    }
    [[nodiscard]] double most(int here, int there) const
    {
        return std::max(inDispatch(here, there), inCombine(here, there));
    }
    /// What a leg of exchange.h counts for a rank of the group's smallest datacenter.
    [[nodiscard]] double ofALeg(const ExpertSpread &spread) const
    {
        const auto smallest = std::ranges::min_element(spread.perSite);
        if (kind == WanCopies::EachSite)
            return double(ranks - *smallest) / *smallest;
        double sum = 0;
        for (auto site = spread.perSite.begin(); site != spread.perSite.end(); ++site)
            sum += site == smallest ? 0 : inDispatch(*smallest, *site);
        return sum;
    }
};

/// The ranks of a stage in their groups.
class Groups {
public:
    using Sites = std::map<int, int>; // ranks by datacenter

    Groups(const Workload &workload, int stage)
        : m_work(workload)
        , m_ranks(workload.layout, stage)
        , m_grid(expertGrid(workload.degrees, m_ranks.count()))
        , m_sites(std::size_t(m_ranks.count() / m_grid.block() * m_grid.stride))
    {
        for (std::size_t group = 0; group < m_sites.size(); ++group)
            for (int part = 0; part < m_grid.expert; ++part)
                ++m_sites[group][place(m_grid.rankOf(int(group) / m_grid.stride, int(group) % m_grid.stride, part))
                                     .at.datacenter];
    }

    /// In whole groups.
    [[nodiscard]] int count() const { return m_ranks.count() / m_grid.block() * m_grid.block(); }
    [[nodiscard]] RankGpu place(int rank) const { return m_ranks.place(rank); }
    [[nodiscard]] Node nodeOf(int rank) const
    {
        const RankGpu place = m_ranks.place(rank);
        return { place.at, place.gpu / m_work.pool(place.at).gpusPerNode };
    }
    [[nodiscard]] const Sites &sites(int rank) const
    {
        return m_sites[std::size_t(m_grid.blockOf(rank) * m_grid.stride + m_grid.laneOf(rank))];
    }
    /// The rank's group.
    [[nodiscard]] std::vector<int> group(int rank) const
    {
        std::vector<int> ranks;
        for (int part = 0; part < m_grid.expert; ++part)
            ranks.push_back(m_grid.rankOf(m_grid.blockOf(rank), m_grid.laneOf(rank), part));
        return ranks;
    }
    /// Its ranks by node.
    [[nodiscard]] std::map<Node, int> nodes(int rank) const
    {
        std::map<Node, int> nodes;
        for (const int other : group(rank))
            ++nodes[nodeOf(other)];
        return nodes;
    }
    /// What the ranks of all groups in the one datacenter send to the other, in copies of one rank's tokens.
    [[nodiscard]] double sent(int from, int to, const Copies &copies) const
    {
        double sum = 0;
        for (const Sites &sites : m_sites) {
            const auto here = sites.find(from), there = sites.find(to);
            if (here != sites.end() && there != sites.end())
                sum += here->second * copies.most(here->second, there->second);
        }
        return sum;
    }

private:
    const Workload &m_work;
    StageRanks m_ranks;
    ExpertGrid m_grid;
    std::vector<Sites> m_sites; // by group
};

/// How long one rank of a group sends where a copy of its tokens is one byte.
class OneRank {
public:
    OneRank(const Workload &workload, const Groups &groups, int rank)
        : m_work(workload)
        , m_groups(groups)
        , m_rank(rank)
        , m_home(groups.nodeOf(rank))
        , m_sharers(sharersOfPairs())
    {
    }

    struct Sent {
        double seconds = 0;
        Seconds latency;
        int link = -1;
        PairLimit limit;
    };

    [[nodiscard]] Sent sent(const Copies &copies) const
    {
        Sent sent;
        const Groups::Sites &sites = m_groups.sites(m_rank);
        const int here = sites.at(m_home.at.datacenter);
        const auto bound = [&](double seconds, int link, PairLimit limit) {
            if (seconds <= sent.seconds)
                return;
            sent.seconds = seconds;
            sent.link = link;
            sent.limit = limit;
        };
        double elsewhere = 0;
        for (const auto &[node, ranks] : m_groups.nodes(m_rank)) {
            if (node.at.datacenter == m_home.at.datacenter)
                continue;
            const int there = sites.at(node.at.datacenter);
            const double own = copies.most(here, there) * ranks / there;
            elsewhere += own;
            const WanPath path = wanPath(m_work, m_home.at, node.at);
            if (path.link < 0) // no way: the plan is blocked (unlinkedExperts), and its time is that of the NICs
                continue;
            sent.latency = std::max(sent.latency, path.latency);
            const PairLimit pair = transportLimit(m_work, path.link);
            const bool isPair = pair.rate.value <= path.nodePair.value * (1 + 1e-9);
            bound(own * m_sharers.at(node) / path.nodePair.value, path.link,
                isPair ? pair : PairLimit { WanLimit::NodeNics, path.nodePair });
        }
        for (const auto &[site, there] : sites) {
            const int link = m_work.links.between(m_home.at.datacenter, site);
            if (site == m_home.at.datacenter || link < 0)
                continue;
            const BytesPerSecond capacity =
                gbitsPerSecond(m_work.plan->cluster.wanLinks[std::size_t(link)].capacityGbps);
            const double all = m_groups.sent(m_home.at.datacenter, site, copies) * m_work.degrees.pipeline;
            bound(all / capacity.value, link, { WanLimit::LinkCapacity, capacity });
        }
        bound(elsewhere / gbitsPerSecond(m_work.fabricGbps(m_home.at)).value, sent.link,
            { WanLimit::NodeNics, nicRate(m_work, m_home.at) });
        return sent;
    }

private:
    /// Of the node's GPUs that serve the stage, those that send to each other node. They lie in a row.
    [[nodiscard]] std::map<Node, int> sharersOfPairs() const
    {
        std::map<Node, int> sharers;
        const int perNode = m_work.pool(m_home.at).gpusPerNode;
        for (int other = std::max(0, m_rank - perNode + 1); other < std::min(m_groups.count(), m_rank + perNode);
             ++other)
            if (m_groups.nodeOf(other) == m_home)
                for (const auto &[node, ranks] : m_groups.nodes(other))
                    ++sharers[node];
        return sharers;
    }

    const Workload &m_work;
    const Groups &m_groups;
    int m_rank;
    Node m_home;
    std::map<Node, int> m_sharers;
};

/// The group's ranks, one of each node: ranks of one node send alike.
std::vector<OneRank> nodesOf(const Workload &workload, const Groups &groups, const ExpertSpread &spread)
{
    std::vector<OneRank> nodes;
    std::optional<Node> last;
    for (const int rank : groups.group(spread.firstRank)) {
        if (last && *last == groups.nodeOf(rank))
            continue;
        last = groups.nodeOf(rank);
        nodes.emplace_back(workload, groups, rank);
    }
    return nodes;
}

ExpertWan slowestOf(const std::vector<OneRank> &nodes, const ExpertSpread &spread, const Copies &copies)
{
    OneRank::Sent slowest;
    for (const OneRank &node : nodes) {
        const OneRank::Sent sent = node.sent(copies);
        const Seconds latency = std::max(slowest.latency, sent.latency);
        if (sent.seconds > slowest.seconds)
            slowest = sent;
        slowest.latency = latency;
    }
    return { { BytesPerSecond { slowest.seconds > 0 ? copies.ofALeg(spread) / slowest.seconds : 0 }, slowest.latency },
        slowest.link, slowest.limit };
}

} // namespace

ExpertWan expertWan(const Workload &workload, int stage, const ExpertSpread &spread, const ExpertTokens &tokens)
{
    const Groups groups(workload, stage);
    const std::vector<OneRank> nodes = nodesOf(workload, groups, spread);
    const auto of = [&](WanCopies kind) { return slowestOf(nodes, spread, { kind, tokens, spread.ranks }); };
    ExpertWan wan = of(WanCopies::EachRank);
    if (const double each = wan.way.bandwidth.value; each > 0) {
        wan.way.ofEachSite = of(WanCopies::EachSite).way.bandwidth.value / each;
        wan.way.ofVisitedSites = of(WanCopies::VisitedSites).way.bandwidth.value / each;
    }
    return wan;
}

void addExpertBytes(const Workload &workload, const PipelineClass &pipelines, int stage, const ExpertTokens &tokens,
    MoeDispatch dispatch, const ExchangedBytes &traffic, std::vector<WanLinkUse> &links)
{
    const ExpertSpread worst = expertSpread(workload, pipelines, stage);
    if (!worst.isAcross() || traffic.total() <= 0)
        return;
    const StageLocation own = pipelines.locations[std::size_t(stage)];
    const Groups groups(workload, stage);
    const Copies copies { wanCopies(dispatch), tokens, worst.ranks };
    const double inDispatch = traffic.dispatch / copies.ofALeg(worst),
                 inCombine = traffic.combine / copies.ofALeg(worst);
    std::map<int, double> sent; // bytes to each datacenter, of all ranks in places like the class's
    for (int rank = 0; rank < groups.count(); ++rank) {
        const StageLocation at = groups.place(rank).at;
        if (at.datacenter != own.datacenter || !areAlike(workload, at, own))
            continue;
        const Groups::Sites &sites = groups.sites(rank);
        const int here = sites.at(own.datacenter);
        for (const auto &[site, there] : sites)
            if (site != own.datacenter)
                sent[site] += inDispatch * copies.inDispatch(here, there) + inCombine * copies.inCombine(here, there);
    }
    int alike = 0; // pipelines in such places: of several classes there, each has its share
    for (const PipelineClass &other : workload.layout.classes)
        if (const StageLocation at = other.locations[std::size_t(stage)];
            at.datacenter == own.datacenter && areAlike(workload, at, own))
            alike += other.pipelines;
    const double share = double(pipelines.pipelines) / std::max(1, alike);
    const ExpertWan wan = slowestOf(nodesOf(workload, groups, worst), worst, copies);
    const double seconds = wan.way.bandwidth.value > 0 ? traffic.total() / wan.way.bandwidth.value : 0;
    const Cluster &cluster = workload.plan->cluster;
    for (const auto &[site, bytes] : sent) {
        const int link = workload.links.between(own.datacenter, site);
        if (link < 0)
            continue;
        const auto way = std::size_t(direction(cluster, cluster.wanLinks[std::size_t(link)], own.datacenter));
        WanLinkUse &use = links[std::size_t(link)];
        use.bytes[way] += bytes * share;
        if (seconds <= use.expertSeconds[way])
            continue;
        use.expertSeconds[way] = seconds;
        if (seconds > std::max(use.syncSeconds[0], use.syncSeconds[1])) {
            use.limit = wan.limit.limit;
            use.limitGbps = wan.limit.rate.value * 8e-9;
        }
    }
}

} // namespace trainyard
