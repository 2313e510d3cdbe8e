#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a dispatcher has begun, while an event loop runs: when each task ends, and at the end its place among the spans.
// Tasks are numbered behind those of the graph.

#include "core/engine/timeline/dispatcher.h"
#include "core/engine/timeline/shared_links.h"

#include <vector>

namespace trainyard {

class DispatchedTasks final : public Dispatch {
public:
    DispatchedTasks(const TaskGraph &graph, SimulationWorkspace &workspace, Dispatcher &dispatcher)
        : m_graph(graph)
        , m_work(workspace)
        , m_dispatcher(dispatcher)
        , m_first(static_cast<std::uint32_t>(graph.taskCount()))
    {
    }

    void reset(SharedLinks &links)
    {
        m_links = &links;
        m_tasks.reserve(m_dispatcher.expects());
        wakeAt(0);
    }
    [[nodiscard]] bool has(std::uint32_t task) const { return task >= m_first; }
    [[nodiscard]] const Flow *flowOf(std::uint32_t task) const
    {
        const std::uint32_t flow = m_graph.table.flow[m_tasks[task - m_first].taskClass];
        return flow == kNoSpan ? nullptr : &m_graph.table.flows[flow];
    }
    [[nodiscard]] Nanoseconds next() const { return std::min(m_ends.next(), m_wakes.next()); }

    /// A flow of its own has ended.
    void end(std::uint32_t task, Nanoseconds at)
    {
        m_tasks[task - m_first].end = at;
        m_ended.push_back(task);
    }
    /// All others that end by then.
    void complete(Nanoseconds now)
    {
        while (m_ends.next() <= now)
            m_ended.push_back(m_ends.pop());
        for (; m_wakes.next() <= now; m_isWoken = true)
            m_wakes.pop();
    }
    /// Tells the dispatcher, and has it choose. True where a flow has begun.
    bool choose(Nanoseconds now);
    [[nodiscard]] std::string leftOver() const { return m_dispatcher.leftOver(); }

    /// Puts the spans of all tasks side by side, track by track; those of the graph are in the timeline already.
    void moveInto(Timeline &timeline) const;

    [[nodiscard]] Nanoseconds now() const override { return m_now; }
    std::uint32_t begin(
        std::uint32_t resource, std::uint32_t taskClass, GraphBuilder::Tag tag, std::uint32_t cause = kNoSpan) override;
    void reclass(std::uint32_t task, std::uint32_t taskClass) override
    {
        m_tasks[task - m_first].taskClass = taskClass;
    }
    void wakeAt(Nanoseconds time) override { m_wakes.push(std::max(time, m_now), 0, 0); }

private:
    struct Task {
        Nanoseconds start, end;
        std::uint32_t resource, taskClass, cause;
        std::int32_t microBatch;
        std::uint16_t chunk;
    };

    const TaskGraph &m_graph;
    SimulationWorkspace &m_work;
    Dispatcher &m_dispatcher;
    SharedLinks *m_links = nullptr;
    /// number of the first of them
    const std::uint32_t m_first;
    std::vector<Task> m_tasks;
    Instants m_ends, m_wakes;
    /// at this instant
    std::vector<std::uint32_t> m_ended;
    Nanoseconds m_now = 0;
    bool m_isWoken = false, m_hasBegunFlow = false;
};

} // namespace trainyard
