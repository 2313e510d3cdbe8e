#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Graphs by topology, so that a plan whose shape was looked at before gets new numbers instead of a new graph: steps of
// a drag, and the switches around a plan after each of its edits. Any thread; who takes a graph has it alone until it
// gives it back.

#include "core/timeline/task_graph.h"

#include <list>
#include <mutex>
#include <optional>

namespace trainyard {

class GraphCache {
public:
    /// Of so many tasks together, about 50 bytes each.
    explicit GraphCache(std::size_t mostTasks = 2'000'000)
        : m_mostTasks(mostTasks)
    {
    }

    [[nodiscard]] std::optional<TaskGraph> take(std::uint64_t fingerprint);
    void giveBack(TaskGraph graph);

private:
    std::size_t m_mostTasks;
    std::mutex m_mutex;
    std::list<TaskGraph> m_graphs; // the last given back first
    std::size_t m_tasks = 0;
};

} // namespace trainyard
