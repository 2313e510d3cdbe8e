#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How a resource that follows no fixed order picks its next task, for the event loop: by priority, by turns, in order
// with opportunistic forwards, or work-conserving (Discipline). Pure choices over the state in the workspace; the loop keeps the clock.

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
        return m_graph.resources[resource].discipline == Discipline::WorkConserving;
    }

private:
    [[nodiscard]] std::uint32_t takeFirst(std::uint32_t resource);
    [[nodiscard]] std::uint32_t takeOpportunistically(std::uint32_t resource);
    [[nodiscard]] std::uint32_t takeWorkConserving(std::uint32_t resource);
    [[nodiscard]] bool continues(std::uint32_t task) const
    {
        return task < m_graph.continues.size() && m_graph.continues[task] != 0;
    }
    [[nodiscard]] std::uint32_t begun(std::uint32_t task)
    {
        m_work.isBegun[task] = 1;
        m_work.continued[m_graph.resource[task]] = continues(task + 1) ? task + 1 : kNoSpan;
        return task;
    }
    [[nodiscard]] std::uint32_t endOfOperation(std::uint32_t task) const
    {
        do
            ++task;
        while (continues(task));
        return task;
    }
    void advanceForward(std::uint32_t resource);

    const TaskGraph &m_graph;
    SimulationWorkspace &m_work;
    Timeline &m_timeline;
};

} // namespace trainyard
