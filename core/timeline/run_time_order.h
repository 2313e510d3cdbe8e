#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How a resource that follows no fixed order picks its next task, for the event loop: by priority, by turns, or by a policy
// (Discipline). Pure choices over the state in the workspace; the loop keeps the clock.

#include "core/timeline/simulator.h"

namespace trainyard {

class RunTimeOrder {
public:
    RunTimeOrder(const TaskGraph &graph, SimulationWorkspace &workspace, Timeline &timeline)
        : m_graph(graph), m_work(workspace), m_timeline(timeline)
    {
    }

    void reset();
    /// The task can start from now on.
    void arrive(std::uint32_t task);
    /// The task that a free resource takes now, or kNoSpan.
    [[nodiscard]] std::uint32_t take(std::uint32_t resource);

    [[nodiscard]] bool decides(std::uint32_t resource) const
    {
        return m_graph.resources[resource].discipline != Discipline::FixedOrder;
    }
    /// It waits for everything else of an instant before it chooses.
    [[nodiscard]] bool choosesLast(std::uint32_t resource) const
    {
        return m_graph.resources[resource].discipline == Discipline::Turns;
    }
    /// What such a resource made itself it knows at once: before it chooses, not with the arrivals of the instant.
    [[nodiscard]] bool knowsItsOwn(std::uint32_t resource) const
    {
        const RunTimePolicy *policy = m_graph.resources[resource].policy;
        return policy && policy->knowsItsOwn();
    }

private:
    [[nodiscard]] std::uint32_t takeFirst(std::uint32_t resource);

    const TaskGraph &m_graph;
    SimulationWorkspace &m_work;
    Timeline &m_timeline;
};

} // namespace trainyard
