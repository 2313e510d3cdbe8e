// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/rank_map.h"

#include "core/iteration/placement/degrees.h"

#include <algorithm>

namespace trainyard {

RankMap::RankMap(int tensor, int context, int data, int pipeline, int expert, RankOrder order)
    : m_tensor(tensor)
    , m_context(context)
    , m_data(data)
    , m_pipeline(pipeline)
    , m_expert(expert)
    , m_order(order)
{
}

RankMap::RankMap(const Plan &plan, const Layout &layout, RankOrder order)
    : m_order(order)
{
    if (layout.data < 1 || layout.classes.empty())
        return;
    const Degrees degrees = degreesOf(plan);
    m_tensor = degrees.tensor;
    m_context = degrees.context;
    m_expert = degrees.expert;
    m_expertTensor = degrees.expertTensor;
    m_data = layout.data;
    m_pipeline = static_cast<int>(layout.classes.front().locations.size());
    const auto hasOwn = [](const StageLocation &at) { return at.tensor > 0; };
    if (std::ranges::none_of(
            layout.classes, [&](const PipelineClass &c) { return std::ranges::any_of(c.locations, hasOwn); }))
        return;
    const int cells = m_data * m_pipeline;
    m_tensorOf.assign(static_cast<std::size_t>(cells), m_tensor);
    for (const PipelineClass &c : layout.classes)
        for (int stage = 0; stage < m_pipeline; ++stage)
            for (int i = 0; i < c.pipelines && hasOwn(c.locations[std::size_t(stage)]); ++i)
                m_tensorOf[std::size_t(cellOf(c.firstPipeline + i, stage))] = c.locations[std::size_t(stage)].tensor;
    m_firstRank.push_back(0);
    for (const int tensor : m_tensorOf)
        m_firstRank.push_back(m_firstRank.back() + tensor * m_context);
}

int RankMap::cellOf(int replica, int stage) const
{
    return m_order == RankOrder::DataBeforePipeline ? stage * m_data + replica : replica * m_pipeline + stage;
}

int RankMap::firstOf(int cell) const
{
    return m_firstRank.empty() ? cell * m_tensor * m_context : m_firstRank[std::size_t(cell)];
}

int RankMap::worldSize() const
{
    return firstOf(m_data * m_pipeline);
}

RankPlace RankMap::placeOf(int rank) const
{
    const int cell = m_firstRank.empty()
        ? rank / (m_tensor * m_context)
        : static_cast<int>(std::ranges::upper_bound(m_firstRank, rank) - m_firstRank.begin()) - 1;
    const bool isDataFirst = m_order == RankOrder::DataBeforePipeline;
    RankPlace place;
    place.replica = isDataFirst ? cell % m_data : cell / m_pipeline;
    place.stage = isDataFirst ? cell / m_data : cell % m_pipeline;
    const int inCell = rank - firstOf(cell);
    place.tensor = inCell % tensorOf(cell);
    place.context = inCell / tensorOf(cell);
    int inStage = inCell;
    if (isDataFirst)
        inStage = rank - firstOf(cellOf(0, place.stage));
    else
        for (int replica = 0; replica < place.replica; ++replica)
            inStage += tensorOf(cellOf(replica, place.stage)) * m_context;
    place.expert = inStage / m_expertTensor % m_expert;
    return place;
}

int RankMap::rankOf(const RankPlace &place) const
{
    if (place.replica < 0 || place.replica >= m_data || place.stage < 0 || place.stage >= m_pipeline
        || place.context < 0 || place.context >= m_context)
        return -1;
    const int cell = cellOf(place.replica, place.stage), tensor = tensorOf(cell);
    if (place.tensor < 0 || place.tensor >= tensor)
        return -1;
    return firstOf(cell) + place.context * tensor + place.tensor;
}

std::vector<int> RankMap::ranksOf(int stage, int first, int pipelines) const
{
    std::vector<int> ranks;
    if (stage < 0 || stage >= m_pipeline)
        return ranks;
    const int end = std::min(first + pipelines, m_data);
    for (int replica = std::max(0, first); replica < end; ++replica) {
        const int cell = cellOf(replica, stage);
        for (int i = 0; i < tensorOf(cell) * m_context; ++i)
            ranks.push_back(firstOf(cell) + i);
    }
    return ranks;
}

} // namespace trainyard
