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

/// Ranks that the smallest datacenter of a group has elsewhere.
int mostElsewhere(const ExpertSpread &spread)
{
    return spread.ranks - *std::ranges::min_element(spread.perSite);
}

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
    /// Ranks of the one datacenter that send to the other.
    [[nodiscard]] int senders(int from, int to) const
    {
        int count = 0;
        for (const Sites &sites : m_sites)
            if (const auto here = sites.find(from); here != sites.end() && sites.contains(to))
                count += here->second;
        return count;
    }

private:
    const Workload &m_work;
    StageRanks m_ranks;
    ExpertGrid m_grid;
    std::vector<Sites> m_sites; // by group
};

/// How long one rank of a group sends where each rank elsewhere gets one byte.
class OneRank {
public:
    OneRank(const Workload &workload, const Groups &groups, int rank)
        : m_work(workload)
        , m_groups(groups)
        , m_rank(rank)
        , m_home(groups.nodeOf(rank))
    {
    }

    struct Sent {
        double seconds = 0;
        Seconds latency;
        int link = -1;
        PairLimit limit;
    };

    [[nodiscard]] Sent sent() const
    {
        Sent sent;
        const auto bound = [&](double seconds, int link, PairLimit limit) {
            if (seconds <= sent.seconds)
                return;
            sent.seconds = seconds;
            sent.link = link;
            sent.limit = limit;
        };
        const std::map<Node, int> sharers = sharersOfPairs();
        int elsewhere = 0;
        for (const auto &[node, ranks] : m_groups.nodes(m_rank)) {
            if (node.at.datacenter == m_home.at.datacenter)
                continue;
            elsewhere += ranks;
            const WanPath path = wanPath(m_work, m_home.at, node.at);
            if (path.link < 0) // no way: the plan is blocked (unlinkedExperts), and its time is that of the NICs
                continue;
            sent.latency = std::max(sent.latency, path.latency);
            const PairLimit pair = transportLimit(m_work, path.link);
            const bool isPair = pair.rate.value <= path.nodePair.value * (1 + 1e-9);
            bound(ranks * sharers.at(node) / path.nodePair.value, path.link,
                isPair ? pair : PairLimit { WanLimit::NodeNics, path.nodePair });
        }
        for (const auto &[site, ranks] : m_groups.sites(m_rank)) {
            const int link = m_work.links.between(m_home.at.datacenter, site);
            if (site == m_home.at.datacenter || link < 0)
                continue;
            const BytesPerSecond capacity =
                gbitsPerSecond(m_work.plan->cluster.wanLinks[std::size_t(link)].capacityGbps);
            const double all = double(m_groups.senders(m_home.at.datacenter, site)) * m_work.degrees.pipeline;
            bound(ranks * all / capacity.value, link, { WanLimit::LinkCapacity, capacity });
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
};

ExpertWan slowestOf(const Workload &workload, const Groups &groups, const ExpertSpread &spread)
{
    OneRank::Sent slowest;
    std::optional<Node> last; // ranks of one node send alike
    for (const int rank : groups.group(spread.firstRank)) {
        if (last && *last == groups.nodeOf(rank))
            continue;
        last = groups.nodeOf(rank);
        const OneRank::Sent sent = OneRank(workload, groups, rank).sent();
        const Seconds latency = std::max(slowest.latency, sent.latency);
        if (sent.seconds > slowest.seconds)
            slowest = sent;
        slowest.latency = latency;
    }
    return { { BytesPerSecond { slowest.seconds > 0 ? mostElsewhere(spread) / slowest.seconds : 0 }, slowest.latency },
        slowest.link, slowest.limit };
}

} // namespace

ExpertWan expertWan(const Workload &workload, int stage, const ExpertSpread &spread)
{
    return slowestOf(workload, Groups(workload, stage), spread);
}

void addExpertBytes(
    const Workload &workload, const PipelineClass &pipelines, int stage, double bytes, std::vector<WanLinkUse> &links)
{
    const ExpertSpread worst = expertSpread(workload, pipelines, stage);
    if (!worst.isAcross() || bytes <= 0)
        return;
    const StageLocation own = pipelines.locations[std::size_t(stage)];
    const Groups groups(workload, stage);
    std::map<int, double> sent; // to each datacenter, in parts of what goes to one rank elsewhere
    int like = 0; // ranks in the class's place: of several classes there, each has its share
    for (int rank = 0; rank < groups.count(); ++rank) {
        const StageLocation at = groups.place(rank).at;
        if (at.datacenter != own.datacenter || !areAlike(workload, at, own))
            continue;
        ++like;
        for (const auto &[site, ranks] : groups.sites(rank))
            if (site != own.datacenter)
                sent[site] += ranks;
    }
    const double ranksOfClass = double(groups.count()) / workload.layout.data * pipelines.pipelines;
    const double toEach = bytes / mostElsewhere(worst) * ranksOfClass / std::max(1, like);
    const ExpertWan wan = slowestOf(workload, groups, worst);
    const double seconds = wan.way.bandwidth.value > 0 ? bytes / wan.way.bandwidth.value : 0;
    const Cluster &cluster = workload.plan->cluster;
    for (const auto &[site, parts] : sent) {
        const int link = workload.links.between(own.datacenter, site);
        if (link < 0)
            continue;
        const auto way = std::size_t(direction(cluster, cluster.wanLinks[std::size_t(link)], own.datacenter));
        WanLinkUse &use = links[std::size_t(link)];
        use.bytes[way] += toEach * parts;
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
