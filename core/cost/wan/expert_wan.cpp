// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/wan/expert_wan.h"

#include "core/placement/ranks.h"
#include "core/placement/stage_ranks.h"

#include <algorithm>
#include <limits>
#include <map>
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

/// The ranks of a stage in their groups.
class Groups {
public:
    Groups(const Workload &workload, int stage)
        : m_work(workload)
        , m_ranks(workload.layout, stage)
        , m_grid(expertGrid(workload.degrees, m_ranks.count()))
    {
    }

    [[nodiscard]] int count() const { return m_ranks.count() / m_grid.block() * m_grid.block(); }
    [[nodiscard]] RankPlace place(int rank) const { return m_ranks.place(rank); }
    [[nodiscard]] Node nodeOf(int rank) const
    {
        const RankPlace place = m_ranks.place(rank);
        return { place.at, place.gpu / m_work.pool(place.at).gpusPerNode };
    }
    /// Ranks of the rank's group by node.
    [[nodiscard]] std::map<Node, int> nodes(int rank) const
    {
        std::map<Node, int> nodes;
        for (int part = 0; part < m_grid.expert; ++part)
            ++nodes[nodeOf(m_grid.rankOf(m_grid.blockOf(rank), m_grid.laneOf(rank), part))];
        return nodes;
    }
    /// The same by datacenter. Of a block all lanes are alike where a border leaves replicas whole; asked rank by rank.
    [[nodiscard]] std::map<int, int> sites(int rank) const
    {
        std::map<int, int> sites;
        for (int part = 0; part < m_grid.expert; ++part)
            ++sites[place(m_grid.rankOf(m_grid.blockOf(rank), m_grid.laneOf(rank), part)).at.datacenter];
        return sites;
    }
    /// A block without a border has no group across it.
    [[nodiscard]] bool isBlockAcross(int block) const
    {
        const int first = block * m_grid.block(), last = first + m_grid.block() - 1;
        for (const StageRanks::Stretch &stretch : m_ranks.stretches())
            if (stretch.first <= last && stretch.end() > first && stretch.run.datacenter != place(first).at.datacenter)
                return true;
        return false;
    }
    [[nodiscard]] const ExpertGrid &grid() const { return m_grid; }

private:
    const Workload &m_work;
    StageRanks m_ranks;
    ExpertGrid m_grid;
};

/// Ranks of the stage in the one datacenter that send to the other.
int senders(const Groups &groups, int from, int to)
{
    int count = 0;
    for (int block = 0; block < groups.count() / groups.grid().block(); ++block) {
        if (!groups.isBlockAcross(block))
            continue;
        for (int rank = block * groups.grid().block(); rank < (block + 1) * groups.grid().block(); ++rank)
            count += groups.place(rank).at.datacenter == from && groups.sites(rank).contains(to);
    }
    return count;
}

} // namespace

ExpertWan expertWan(const Workload &workload, StageLocation own, int stage, const ExpertSpread &spread)
{
    const Groups groups(workload, stage);
    const ExpertGrid &grid = groups.grid();
    const int block = grid.blockOf(spread.firstRank), lane = grid.laneOf(spread.firstRank);
    int rank = spread.firstRank;
    for (int part = 0; part < grid.expert; ++part)
        if (const StageLocation at = groups.place(grid.rankOf(block, lane, part)).at;
            at.datacenter == own.datacenter && areAlike(workload, at, own)) {
            rank = grid.rankOf(block, lane, part);
            break;
        }
    const Node home = groups.nodeOf(rank);
    const StageLocation from = home.at;
    // Of the node's GPUs that serve the stage, those that send to each node elsewhere. They lie in a row.
    std::map<Node, int> sharers;
    const int perNode = workload.pool(from).gpusPerNode;
    for (int other = std::max(0, rank - perNode + 1); other < std::min(groups.count(), rank + perNode); ++other)
        if (groups.nodeOf(other) == home)
            for (const auto &[node, ranks] : groups.nodes(other))
                ++sharers[node];
    const double elsewhere = spread.ranks - spread.here();
    ExpertWan result;
    result.way.bandwidth = gbitsPerSecond(workload.fabricGbps(from)); // of all it sends
    result.limit = { WanLimit::NodeNics, nicRate(workload, from) };
    const auto bound = [&](double rate, int link, PairLimit limit) {
        if (rate < result.way.bandwidth.value || result.link < 0) {
            if (rate < result.way.bandwidth.value)
                result.limit = limit;
            result.link = link;
            result.way.bandwidth = BytesPerSecond { std::min(rate, result.way.bandwidth.value) };
        }
    };
    std::map<int, int> ofSite;
    for (const auto &[node, ranks] : groups.nodes(rank)) {
        if (node.at.datacenter == from.datacenter)
            continue;
        ofSite[node.at.datacenter] += ranks;
        const WanPath path = wanPath(workload, from, node.at);
        if (path.link < 0)
            continue; // refused: unlinkedExperts()
        result.way.latency = std::max(result.way.latency, path.latency);
        const PairLimit pair = transportLimit(workload, path.link);
        const bool isPair = pair.rate.value <= path.nodePair.value * (1 + 1e-9);
        bound(path.nodePair.value / sharers[node] * elsewhere / ranks, path.link,
            isPair ? pair : PairLimit { WanLimit::NodeNics, path.nodePair });
    }
    for (const auto &[site, ranks] : ofSite) {
        const int link = workload.links.between(from.datacenter, site);
        if (link < 0)
            continue;
        const BytesPerSecond capacity = gbitsPerSecond(workload.plan->cluster.wanLinks[std::size_t(link)].capacityGbps);
        const double all = double(senders(groups, from.datacenter, site)) * workload.degrees.pipeline;
        bound(capacity.value / std::max(1.0, all) * elsewhere / ranks, link, { WanLimit::LinkCapacity, capacity });
    }
    return result;
}

void addExpertBytes(
    const Workload &workload, const PipelineClass &pipelines, int stage, double bytes, std::vector<WanLinkUse> &links)
{
    const ExpertSpread worst = expertSpread(workload, pipelines, stage);
    if (!worst.isAcross() || bytes <= 0)
        return;
    const StageLocation own = pipelines.locations[std::size_t(stage)];
    const Groups groups(workload, stage);
    const int elsewhere = worst.ranks - worst.here();
    std::map<int, double> sent; // to each datacenter, in parts of what goes to one rank elsewhere
    int like = 0; // ranks in the class's place: of several classes there, each has its share
    for (int rank = 0; rank < groups.count(); ++rank) {
        const StageLocation at = groups.place(rank).at;
        if (at.datacenter != own.datacenter || !areAlike(workload, at, own))
            continue;
        ++like;
        if (!groups.isBlockAcross(groups.grid().blockOf(rank)))
            continue;
        for (const auto &[site, ranks] : groups.sites(rank))
            if (site != own.datacenter)
                sent[site] += ranks;
    }
    const double ranksOfClass = double(groups.count()) / workload.layout.data * pipelines.pipelines;
    const double toEach = bytes / elsewhere * ranksOfClass / std::max(1, like);
    const ExpertWan wan = expertWan(workload, own, stage, worst);
    const Cluster &cluster = workload.plan->cluster;
    for (const auto &[site, parts] : sent) {
        const int link = workload.links.between(own.datacenter, site);
        if (link < 0)
            continue;
        const auto way = std::size_t(direction(cluster, cluster.wanLinks[std::size_t(link)], own.datacenter));
        WanLinkUse &use = links[std::size_t(link)];
        use.bytes[way] += toEach * parts;
        const double seconds = bytes / wan.way.bandwidth.value;
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
