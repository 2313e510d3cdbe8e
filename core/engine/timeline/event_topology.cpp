// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/event_topology.h"

#include "core/engine/timeline/task_graph.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace trainyard {

namespace {

void countWaits(EventTopology &topology, const TaskGraph &graph)
{
    topology.waits.resize(graph.taskCount());
    topology.traits.resize(graph.taskCount());
    for (const Resource &resource : graph.resources) {
        const auto [first, last] = std::pair(resource.track.first, resource.track.last);
        const bool chooses = resource.discipline != Discipline::FixedOrder;
        for (std::uint32_t task = first; task < last; ++task) {
            topology.waits[task] =
                graph.predBegin[task + 1] - graph.predBegin[task] + (!chooses && task > first ? 1 : 0);
            const bool isOpen = graph.isFlow(task) || (!graph.mayStop.empty() && graph.mayStop[task] != 0);
            const std::uint8_t ofOrder = chooses ? EventTopology::kChosen
                : task + 1 < last                ? EventTopology::kFollowed
                                                 : 0;
            topology.traits[task] = isOpen ? ofOrder | EventTopology::kOpen : ofOrder;
        }
    }
}

void findSuccessors(EventTopology &topology, const TaskGraph &graph)
{
    std::vector<std::uint32_t> &begins = topology.successorBegin;
    begins.assign(graph.taskCount() + 1, 0);
    topology.successor.resize(graph.pred.size());
    for (const std::uint32_t pred : graph.pred)
        ++begins[pred];
    std::uint32_t end = 0;
    for (std::uint32_t &begin : begins)
        begin = end += begin;
    for (auto task = static_cast<std::uint32_t>(graph.taskCount()); task-- > 0;)
        for (std::uint32_t i = graph.predBegin[task]; i < graph.predBegin[task + 1]; ++i)
            topology.successor[--begins[graph.pred[i]]] = task | (graph.lag[i] & TaskGraph::kFromStart);
}

void rankTies(EventTopology &topology, const TaskGraph &graph)
{
    std::vector<std::uint32_t> order(graph.resources.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::sort(order, {}, [&](std::uint32_t r) {
        const Track &t = graph.resources[r].track;
        return std::tuple(t.pipelineClass, t.stage, t.stream, t.toStage, t.first);
    });
    topology.tieRank.resize(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i)
        topology.tieRank[order[i]] = i;
}

} // namespace

EventTopology eventTopologyOf(const TaskGraph &graph)
{
    EventTopology topology;
    countWaits(topology, graph);
    findSuccessors(topology, graph);
    rankTies(topology, graph);
    return topology;
}

const EventTopology &eventsOf(const TaskGraph &graph, EventTopology &kept, std::uint64_t &keptOf)
{
    if (!graph.events.waits.empty())
        return graph.events;
    if (graph.fingerprint == 0 || keptOf != graph.fingerprint)
        kept = eventTopologyOf(graph);
    keptOf = graph.fingerprint;
    return kept;
}

} // namespace trainyard
