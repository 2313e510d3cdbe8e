#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How a resource that follows no fixed order picks its next task, for the event loop: by priority, by turns, or by a
// policy (Discipline). Pure choices over the state in the workspace; the loop keeps the clock.

#include "core/engine/timeline/simulator.h"

#include <algorithm>
#include <functional>

namespace trainyard {

class RunTimeOrder {
public:
    RunTimeOrder(const TaskGraph &graph, SimulationWorkspace &workspace, Timeline &timeline)
        : m_graph(graph)
        , m_work(workspace)
        , m_timeline(timeline)
    {
    }

    void reset();
    /// The task can start from now on.
    void arrive(std::uint32_t task)
    {
        const std::uint32_t on = m_graph.resource[task];
        if (m_graph.resources[on].policy) {
            m_work.policies.isHere[task] = 1;
            return;
        }
        auto &queue = m_work.queues[on];
        queue.emplace_back(m_graph.priority.empty() ? 0 : m_graph.priority[task], task);
        std::push_heap(queue.begin(), queue.end(), std::greater {});
    }
    /// The task that a free resource takes now, or kNoSpan.
    [[nodiscard]] std::uint32_t take(std::uint32_t resource)
    {
        const RunTimePolicy *policy = m_graph.resources[resource].policy;
        return policy ? takeByPolicy(*policy, resource) : takeFirst(resource);
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
    [[nodiscard]] std::uint32_t takeFirst(std::uint32_t resource)
    {
        auto &queue = m_work.queues[resource];
        if (queue.empty())
            return kNoSpan;
        const std::uint32_t task = queue.front().second;
        std::pop_heap(queue.begin(), queue.end(), std::greater {});
        queue.pop_back();
        return task;
    }

    [[nodiscard]] std::uint32_t takeByPolicy(const RunTimePolicy &policy, std::uint32_t resource)
    {
        const Choosing at { m_graph, m_work.policies, m_timeline, resource };
        std::uint32_t &continued = m_work.continued[resource];
        if (continued != kNoSpan && !at.isHere(continued))
            return kNoSpan;
        const std::uint32_t task = continued != kNoSpan ? continued : policy.take(at);
        if (task == kNoSpan)
            return kNoSpan;
        m_work.policies.isBegun[task] = 1;
        continued = at.continues(task + 1) ? task + 1 : kNoSpan;
        return task;
    }

    const TaskGraph &m_graph;
    SimulationWorkspace &m_work;
    Timeline &m_timeline;
};

} // namespace trainyard
