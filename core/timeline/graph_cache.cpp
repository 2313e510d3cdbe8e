// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/timeline/graph_cache.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trainyard {

std::optional<TaskGraph> GraphCache::take(std::uint64_t fingerprint)
{
    const std::lock_guard lock(m_mutex);
    const auto found = std::ranges::find(m_graphs, fingerprint, &TaskGraph::fingerprint);
    if (found == m_graphs.end())
        return std::nullopt;
    m_tasks -= found->taskCount();
    std::optional<TaskGraph> graph = std::move(*found);
    m_graphs.erase(found);
    return graph;
}

void GraphCache::giveBack(TaskGraph graph)
{
    std::list<TaskGraph> dropped; // freed after the lock
    const std::lock_guard lock(m_mutex);
    if (graph.taskCount() > m_mostTasks
        || std::ranges::find(m_graphs, graph.fingerprint, &TaskGraph::fingerprint) != m_graphs.end())
        return;
    m_tasks += graph.taskCount();
    m_graphs.push_front(std::move(graph));
    while (m_tasks > m_mostTasks) {
        m_tasks -= m_graphs.back().taskCount();
        dropped.splice(dropped.begin(), m_graphs, std::prev(m_graphs.end()));
    }
}

} // namespace trainyard
