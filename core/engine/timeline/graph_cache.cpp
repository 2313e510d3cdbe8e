// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/graph_cache.h"

#include <algorithm>
#include <utility>

namespace trainyard {

bool GraphCache::goesBefore(const Kept &a, const Kept &b) const
{
    constexpr std::uint64_t kLong = 1000; // several rounds of the switches around a plan
    const auto isForgotten = [&](const Kept &kept) { return kept.given + kLong < m_given; };
    return isForgotten(a) != isForgotten(b) ? isForgotten(a) : a.graph.taskCount() > b.graph.taskCount();
}

std::optional<TaskGraph> GraphCache::take(std::uint64_t fingerprint)
{
    const std::lock_guard lock(m_mutex);
    const auto isIt = [&](const Kept &kept) { return kept.graph.fingerprint == fingerprint; };
    const auto found = std::ranges::find_if(m_kept, isIt);
    if (found == m_kept.end())
        return std::nullopt;
    m_tasks -= found->graph.taskCount();
    std::optional<TaskGraph> graph = std::move(found->graph);
    m_kept.erase(found);
    return graph;
}

void GraphCache::giveBack(TaskGraph graph)
{
    std::list<Kept> dropped; // freed after the lock
    const std::lock_guard lock(m_mutex);
    const std::size_t tasks = graph.taskCount();
    if (tasks > m_mostTasks)
        return;
    while (m_tasks + tasks > m_mostTasks) {
        const auto first = std::ranges::min_element(
            m_kept.rbegin(), m_kept.rend(), [&](const Kept &a, const Kept &b) { return goesBefore(a, b); });
        m_tasks -= first->graph.taskCount();
        dropped.splice(dropped.begin(), m_kept, std::prev(first.base()));
    }
    m_tasks += tasks;
    m_kept.push_front({ std::move(graph), ++m_given });
}

} // namespace trainyard
