// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/timeline/event_topology.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace trainyard {

void EventTopology::learn(const TaskGraph &graph)
{
    if (graph.fingerprint != 0 && graph.fingerprint == m_fingerprint)
        return;
    countWaits(graph);
    findSuccessors(graph);
    rankTies(graph);
    m_fingerprint = graph.fingerprint;
}

void EventTopology::countWaits(const TaskGraph &graph)
{
    waits.resize(graph.taskCount());
    traits.resize(graph.taskCount());
    for (const Resource &resource : graph.resources) {
        const auto [first, last] = std::pair(resource.track.first, resource.track.last);
        const bool chooses = resource.discipline != Discipline::FixedOrder;
        for (std::uint32_t task = first; task < last; ++task) {
            waits[task] = graph.predBegin[task + 1] - graph.predBegin[task] + (!chooses && task > first ? 1 : 0);
            const bool isOpen = graph.isFlow(task) || (!graph.mayStop.empty() && graph.mayStop[task] != 0);
            traits[task] = static_cast<std::uint8_t>((chooses ? kChosen : task + 1 < last ? kFollowed : 0) | (isOpen ? kOpen : 0));
        }
    }
}

void EventTopology::findSuccessors(const TaskGraph &graph)
{
    const std::size_t tasks = graph.taskCount();
    successorBegin.assign(tasks + 1, 0);
    successor.resize(graph.pred.size());
    for (const std::uint32_t pred : graph.pred)
        ++successorBegin[pred];
    std::uint32_t end = 0;
    for (std::uint32_t &begin : successorBegin)
        begin = end += begin;
    for (auto task = static_cast<std::uint32_t>(tasks); task-- > 0;)
        for (std::uint32_t i = graph.predBegin[task]; i < graph.predBegin[task + 1]; ++i)
            successor[--successorBegin[graph.pred[i]]] = task | (graph.lag[i] & TaskGraph::kFromStart);
}

void EventTopology::rankTies(const TaskGraph &graph)
{
    std::vector<std::uint32_t> order(graph.resources.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::sort(order, {}, [&](std::uint32_t r) {
        const Track &t = graph.resources[r].track;
        return std::tuple(t.pipelineClass, t.stage, t.stream, t.toStage, t.first);
    });
    tieRank.resize(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i)
        tieRank[order[i]] = i;
}

} // namespace trainyard
