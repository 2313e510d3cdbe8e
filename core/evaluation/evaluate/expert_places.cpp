// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/expert_places.h"

#include "core/iteration/placement/stage_ranks.h"
#include "core/systems/experts/fan_out.h"
#include "core/systems/experts/loads.h"

#include <algorithm>
#include <tuple>

namespace trainyard {

namespace {

/// What a rank sends to one that `share` of all visits go to.
double bytesTo(const ExchangeRequest &request, MoeDispatch dispatch, double share)
{
    const ExpertTokens &tokens = request.tokens;
    const double all = tokens.tokens * tokens.dispatchBytes;
    switch (dispatch) {
    case MoeDispatch::AllGather:
        return all;
    case MoeDispatch::RankDedup:
    case MoeDispatch::Dedup:
        return share > 0 ? all * share * placesVisited(1 / share, tokens) : 0;
    case MoeDispatch::TensorSliced:
        return all * tokens.choices * tokens.kept * share / std::max(1, request.group.sameTokens.ranks);
    case MoeDispatch::Flat:
    case MoeDispatch::Hierarchical:
    case MoeDispatch::TrafficAware:
        break;
    }
    return all * tokens.choices * tokens.kept * share;
}

bool hasExperts(const Layout &layout, int stage)
{
    return layout.data > 0 && stage >= 0 && stage < int(layout.chunks.size())
        && std::ranges::any_of(
            layout.chunks[std::size_t(stage)], [](const StageChunk &chunk) { return chunk.expertLayers > 0; });
}

} // namespace

ExpertPlaces::ExpertPlaces(const Evaluation &evaluation, const ExpertLayer &layer, int stage)
    : m_stage(stage)
{
    if (!hasExperts(evaluation.layout, stage))
        return;
    const Plan &plan = *evaluation.plan;
    const StageRanks ranks(evaluation.layout, stage);
    m_grid = expertGrid(degreesOf(plan), ranks.count());
    m_experts = evaluation.model.experts;
    const MoeStrategy &moe = plan.moe;
    const RankLoads loads = rankLoads(moe.expertLoads, m_experts, m_grid.expert, moe.imbalance, moe.capacity());
    for (int part = 0; part < m_grid.expert; ++part) {
        const double load = std::size_t(part) < loads.ofRank.size() ? loads.ofRank[std::size_t(part)] : 1;
        m_bytesTo.push_back(bytesTo(layer.request, layer.choice.dispatch, load / m_grid.expert));
    }
    const int whole = ranks.count() / m_grid.block() * m_grid.block();
    m_groups = whole / m_grid.expert;
    for (int rank = 0; rank < whole; ++rank) {
        const RankGpu at = ranks.place(rank);
        const int part = m_grid.coordinateOf(rank),
                  perNode = plan.cluster.datacenters[std::size_t(at.at.datacenter)]
                                .pools[std::size_t(at.at.pool)]
                                .gpusPerNode;
        m_ranks.push_back({ rank, m_grid.blockOf(rank) * m_grid.stride + m_grid.laneOf(rank), part, at.pipeline, at.at,
            at.gpu, at.gpu / std::max(1, perNode),
            std::size_t(part) < loads.ofRank.size() ? loads.ofRank[std::size_t(part)] : 1 });
    }
}

const ExpertPlace *ExpertPlaces::find(StageLocation at, int gpu) const
{
    const auto found =
        std::ranges::find_if(m_ranks, [&](const ExpertPlace &place) { return place.at == at && place.gpu == gpu; });
    return found == m_ranks.end() ? nullptr : &*found;
}

std::vector<const ExpertPlace *> ExpertPlaces::holders(int expert) const
{
    std::vector<const ExpertPlace *> found;
    if (expert < 0 || expert >= m_experts || m_ranks.empty())
        return found;
    for (const ExpertPlace &place : m_ranks)
        if (place.part == expert / expertsEach())
            found.push_back(&place);
    std::ranges::stable_sort(found, {}, [](const ExpertPlace *place) { return place->group; });
    return found;
}

int ExpertPlaces::fullestExpert() const
{
    const auto fullest = std::ranges::max_element(m_ranks, {}, &ExpertPlace::load);
    return fullest == m_ranks.end() ? 0 : firstExpert(*fullest);
}

double ExpertPlaces::bytes(const ExpertPlace &from, const ExpertPlace &to) const
{
    return from.group == to.group ? m_bytesTo[std::size_t(to.part)] : 0;
}

std::vector<const ExpertPlace *> ExpertPlaces::groupOf(const ExpertPlace &place) const
{
    std::vector<const ExpertPlace *> group;
    for (int part = 0; part < m_grid.expert; ++part)
        group.push_back(
            &m_ranks[std::size_t(m_grid.rankOf(m_grid.blockOf(place.rank), m_grid.laneOf(place.rank), part))]);
    return group;
}

std::vector<ExpertSender> ExpertPlaces::senders(const ExpertPlace &to, SenderKind kind) const
{
    std::vector<ExpertSender> senders;
    for (const ExpertPlace *from : groupOf(to)) {
        ExpertSender next { from->at, kind == SenderKind::Datacenter ? -1 : from->node,
            kind == SenderKind::Gpu ? from->gpu : -1, 1, bytes(*from, to) };
        const auto isSame = [&](const ExpertSender &known) {
            return known.at.datacenter == next.at.datacenter && known.node == next.node && known.gpu == next.gpu
                && (kind == SenderKind::Datacenter || known.at.pool == next.at.pool);
        };
        if (const auto known = std::ranges::find_if(senders, isSame); known != senders.end()) {
            ++known->gpus;
            known->bytes += next.bytes;
        } else {
            senders.push_back(next);
        }
    }
    std::ranges::stable_sort(senders, std::ranges::greater {}, &ExpertSender::bytes);
    return senders;
}

} // namespace trainyard
