#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Graphs by topology, so that a plan whose shape was looked at before gets new numbers instead of a new graph: steps of
// a drag, and the switches around a plan after each of its edits. Any thread; who takes a graph has it alone until it
// gives it back.

#include "core/engine/timeline/task_graph.h"

#include <list>
#include <mutex>
#include <optional>

namespace trainyard {

class GraphCache {
public:
    /// Of so many tasks together, about 50 bytes each: those of all switches around a plan of 16,000 GPUs are 2.2 M.
    explicit GraphCache(std::size_t mostTasks = 3'000'000)
        : m_mostTasks(mostTasks)
    {
    }

    [[nodiscard]] std::optional<TaskGraph> take(std::uint64_t fingerprint);
    /// Threads that needed a topology at once had one each; all are kept, since they will again.
    void giveBack(TaskGraph graph);

private:
    struct Kept {
        TaskGraph graph;
        /// back, as a number of m_given
        std::uint64_t given = 0;
    };

    /// Where there is no room: what nobody took for long, then the largest. With the oldest first, a little more than
    /// fits would have every graph made anew each time round; so only the largest are.
    [[nodiscard]] bool goesBefore(const Kept &a, const Kept &b) const;

    std::size_t m_mostTasks;
    std::mutex m_mutex;
    /// the last given back first
    std::list<Kept> m_kept;
    std::size_t m_tasks = 0;
    std::uint64_t m_given = 0;
};

} // namespace trainyard
