// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/expert_spread.h"

#include "core/iteration/placement/ranks.h"
#include "core/iteration/placement/stage_ranks.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace trainyard {

namespace {

bool hasGroups(const Workload &workload)
{
    return workload.model.isMoe() && workload.source.hasLayers && workload.degrees.expert > 1
        && workload.layout.data > 0;
}

/// Ranks of a group in one node, or in the racks of one pool.
struct Piece {
    StageLocation at;
    int domain = 0, ranks = 0;
    [[nodiscard]] auto place() const { return std::tuple(at.datacenter, at.pool, domain); }
    [[nodiscard]] bool isWith(const Piece &other) const { return place() == other.place(); }
};

class Pieces {
public:
    /// `apart`: GPUs from one rank of the group to the next.
    Pieces(const Workload &workload, int apart)
        : m_work(workload)
        , m_apart(std::max(1, apart))
    {
    }
    void clear() { m_pieces.clear(); }
    void add(RankGpu place)
    {
        const Piece next { place.at, isRack(place.at) ? 0 : place.gpu / m_work.pool(place.at).gpusPerNode, 1 };
        if (!m_pieces.empty() && m_pieces.back().isWith(next))
            ++m_pieces.back().ranks;
        else
            m_pieces.push_back(next);
    }

    /// As ranks like those of the location see it; no sites where none of it lies there.
    [[nodiscard]] ExpertSpread spread(StageLocation own)
    {
        settle();
        ExpertSpread spread { 0, 0, {}, {}, 0 };
        std::map<int, int> ofSite;
        for (const Piece &piece : m_pieces) {
            spread.ranks += piece.ranks;
            ofSite[piece.at.datacenter] += piece.ranks;
            if (piece.at.datacenter != own.datacenter || !areAlike(m_work, piece.at, own))
                continue;
            const int together =
                isRack(piece.at) ? std::clamp(domainOf(m_work, piece.at) / m_apart, 1, piece.ranks) : piece.ranks;
            spread.together = spread.together == 0 ? together : std::min(spread.together, together);
        }
        if (spread.together == 0)
            return {};
        spread.sites = { own.datacenter };
        spread.perSite = { ofSite[own.datacenter] };
        for (const auto &[site, ranks] : ofSite)
            if (site != own.datacenter) {
                spread.sites.push_back(site);
                spread.perSite.push_back(ranks);
            }
        return spread;
    }

    [[nodiscard]] int sites() const
    {
        std::set<int> all;
        for (const Piece &piece : m_pieces)
            all.insert(piece.at.datacenter);
        return int(all.size());
    }

private:
    /// Of NVLink larger than a node. A pool says how many nodes it has, not where its racks end: groups that fit into
    /// one are taken to lie in one.
    [[nodiscard]] bool isRack(StageLocation at) const { return domainOf(m_work, at) > m_work.pool(at).gpusPerNode; }
    /// Ranks that lie together in one piece each, whatever came between them.
    void settle()
    {
        std::ranges::sort(m_pieces, {}, &Piece::place);
        std::size_t kept = 0;
        for (std::size_t i = 0; i < m_pieces.size(); ++i) {
            if (kept > 0 && m_pieces[kept - 1].isWith(m_pieces[i]))
                m_pieces[kept - 1].ranks += m_pieces[i].ranks;
            else
                m_pieces[kept++] = m_pieces[i];
        }
        m_pieces.resize(kept);
    }

    const Workload &m_work;
    int m_apart;
    std::vector<Piece> m_pieces;
};

/// Calls `look(block)` for each block of the stage's ranks that may differ from those before: inside a stretch of GPUs
/// blocks repeat with the nodes that they begin in.
template <class Look>
void eachKindOfBlock(const Workload &workload, const StageRanks &ranks, const ExpertGrid &grid, Look &&look)
{
    const int size = grid.block(), blocks = ranks.count() / size;
    std::set<int> seen; // places in a node where a block of the present stretch began
    int stretch = -1;
    for (int block = 0; block < blocks; ++block) {
        const StageRanks::Stretch &own = ranks.stretchOf(block * size);
        if (own.first != stretch) {
            stretch = own.first;
            seen.clear();
        }
        const int last = own.end() / size; // blocks before it end in this stretch
        if (block < last) {
            const int node = workload.pool(own.at()).gpusPerNode;
            if (!seen.insert((own.run.firstGpu + block * size - own.first) % node).second) {
                block = last - 1;
                continue;
            }
        }
        look(block);
    }
}

} // namespace

ExpertGrid expertGrid(const Degrees &degrees, int ranksOfStage)
{
    ExpertGrid grid { degrees.expert, degrees.expertTensor, degrees.expertTensor };
    const bool holdsSame = degrees.expertTensor == 1 && degrees.tensor > 1 && !degrees.isSequenceParallel;
    if (holdsSame && ranksOfStage % (degrees.expert * degrees.tensor) == 0)
        grid.stride = degrees.tensor;
    return grid;
}

namespace {

/// Of a block that fills whole nodes, or lies in one where others do too: what each of its ranks has around it, without
/// looking at each. Empty elsewhere.
std::optional<ExpertSpread> ofWholeNodes(
    const Workload &workload, const StageRanks &ranks, const ExpertGrid &grid, int block, StageLocation own)
{
    const int first = block * grid.block();
    const StageRanks::Stretch &stretch = ranks.stretchOf(first);
    const int node = workload.pool(stretch.at()).gpusPerNode, gpu = stretch.run.firstGpu + first - stretch.first;
    const bool isWhole = node % grid.stride == 0 && grid.block() % node == 0 && gpu % node == 0,
               isInside = node % grid.block() == 0 && gpu % grid.block() == 0;
    if (stretch.at() != own || first + grid.block() > stretch.end() || domainOf(workload, own) > node
        || (!isWhole && !isInside))
        return std::nullopt;
    return ExpertSpread { grid.expert, isInside ? grid.expert : node / grid.stride, { grid.expert }, { own.datacenter },
        first };
}

} // namespace

ExpertSpread expertSpread(const Workload &workload, const PipelineClass &pipelines, int stage)
{
    if (!hasGroups(workload))
        return {};
    const StageLocation own = pipelines.locations[std::size_t(stage)];
    const StageRanks ranks(workload.layout, stage);
    const ExpertGrid grid = expertGrid(workload.degrees, ranks.count());
    ExpertSpread worst;
    bool isFound = false;
    Pieces pieces(workload, grid.stride);
    const auto rankOf = [](const ExpertSpread &s) { return std::tuple(s.here(), s.together, -int(s.perSite.size())); };
    const auto consider = [&](ExpertSpread next) {
        if (next.sites.empty() || (isFound && rankOf(next) >= rankOf(worst)))
            return;
        worst = std::move(next);
        isFound = true;
    };
    eachKindOfBlock(workload, ranks, grid, [&](int block) {
        if (auto whole = ofWholeNodes(workload, ranks, grid, block, own))
            return consider(std::move(*whole));
        for (int lane = 0; lane < grid.stride; ++lane) {
            pieces.clear();
            for (int part = 0; part < grid.expert; ++part)
                pieces.add(ranks.place(grid.rankOf(block, lane, part)));
            ExpertSpread next = pieces.spread(own);
            next.firstRank = grid.rankOf(block, lane, 0);
            consider(std::move(next));
        }
    });
    if (!isFound) { // asked before anything has a place there (searches do), or no whole group is left
        const int together = std::clamp(domainOf(workload, own) / std::max(1, grid.stride), 1, grid.expert);
        worst = { grid.expert, together, { grid.expert }, { own.datacenter }, 0 };
    }
    return worst;
}

namespace {

/// Pieces of the ranks that hold each part of the experts, by coordinate (and, where experts are shards, lane).
template <class Look> void eachReplicaGroup(const Workload &workload, int stage, Look &&look)
{
    const StageRanks ranks(workload.layout, stage);
    const int mirror = workload.degrees.mirrorOf(stage);
    const std::optional<StageRanks> copies =
        mirror == stage ? std::nullopt : std::optional<StageRanks>(std::in_place, workload.layout, mirror);
    const ExpertGrid grid = expertGrid(workload.degrees, ranks.count());
    const int lanes = grid.expertTensor > 1 ? grid.stride : 1;
    Pieces pieces(workload, workload.degrees.expertRanks());
    for (int part = 0; part < grid.expert; ++part) {
        for (int lane = 0; lane < lanes; ++lane) {
            pieces.clear();
            for (const StageRanks *of : { &ranks, copies ? &*copies : nullptr }) {
                for (int block = 0; of && (block + 1) * grid.block() <= of->count(); ++block)
                    for (int other = lane; other < grid.stride; other += lanes)
                        pieces.add(of->place(grid.rankOf(block, other, part)));
            }
            look(pieces);
        }
    }
}

} // namespace

double expertsHeldApart(const Workload &workload, int stage)
{
    if (!workload.model.isMoe() || workload.layout.data == 0)
        return 0;
    int all = 0, apart = 0;
    eachReplicaGroup(workload, stage, [&](const Pieces &pieces) {
        ++all;
        apart += pieces.sites() > 1;
    });
    return all > 0 ? double(apart) / all : 0;
}

std::optional<ExpertsAcross> expertsAcross(const Workload &workload)
{
    const Degrees &p = workload.degrees;
    if (!workload.model.isMoe() || !workload.source.hasLayers || p.expertRanks() <= 1 || workload.layout.data == 0
        || workload.layout.mode != PlacementMode::DataAcross)
        return std::nullopt;
    const StageRanks ranks(workload.layout, 0); // every stage lies in the same datacenters
    const auto &stretches = ranks.stretches();
    const auto isCut = [&](int at, std::size_t i) {
        return stretches[i].run.datacenter != stretches[i - 1].run.datacenter && stretches[i].first % at != 0;
    };
    const int block = expertGrid(p, ranks.count()).block();
    std::optional<ExpertsAcross> found;
    for (std::size_t i = 1; i < stretches.size() && !found; ++i)
        if (isCut(block, i))
            found = ExpertsAcross { stretches[i - 1].run.datacenter, stretches[i].run.datacenter, 0 };
    for (int expert = p.expert; found && expert >= 1 && found->expert == 0; --expert) {
        if (p.expert % expert != 0 || workload.model.experts % expert != 0)
            continue;
        Degrees smaller = p;
        smaller.expert = expert;
        const int other = expertGrid(smaller, ranks.count()).block();
        bool isWhole = true;
        for (std::size_t i = 1; i < stretches.size(); ++i)
            isWhole = isWhole && !isCut(other, i);
        found->expert = isWhole ? expert : 0;
    }
    return found;
}

std::optional<UnlinkedExperts> unlinkedExperts(const Workload &workload)
{
    if (!hasGroups(workload) || workload.layout.mode != PlacementMode::DataAcross)
        return std::nullopt;
    const StageRanks ranks(workload.layout, 0); // every stage lies in the same datacenters
    const ExpertGrid grid = expertGrid(workload.degrees, ranks.count());
    std::optional<UnlinkedExperts> found;
    eachKindOfBlock(workload, ranks, grid, [&](int block) {
        for (int lane = 0; lane < grid.stride && !found; ++lane) {
            std::set<int> sites;
            for (int part = 0; part < grid.expert; ++part)
                sites.insert(ranks.place(grid.rankOf(block, lane, part)).at.datacenter);
            for (const int a : sites)
                for (const int b : sites)
                    if (a < b && !found && workload.links.between(a, b) < 0)
                        found = UnlinkedExperts { a, b };
        }
    });
    return found;
}

std::optional<CutExperts> cutExperts(const Workload &workload)
{
    const int together = workload.degrees.expertTensor;
    if (!workload.model.isMoe() || !workload.source.hasLayers || together <= 1 || workload.layout.data == 0
        || workload.layout.mode != PlacementMode::DataAcross)
        return std::nullopt;
    const StageRanks ranks(workload.layout, 0); // every stage lies in the same datacenters
    const auto &stretches = ranks.stretches();
    for (std::size_t i = 1; i < stretches.size(); ++i) // the ranks of an expert lie in a row, from 0 on
        if (const int from = stretches[i - 1].run.datacenter, to = stretches[i].run.datacenter;
            from != to && stretches[i].first % together != 0)
            return CutExperts { from, to };
    return std::nullopt;
}

} // namespace trainyard
