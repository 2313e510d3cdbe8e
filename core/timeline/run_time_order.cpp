// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/timeline/run_time_order.h"

#include <algorithm>
#include <functional>

namespace trainyard {

void RunTimeOrder::reset()
{
    const std::size_t resources = m_graph.resources.size();
    m_work.queues.resize(resources);
    for (auto &queue : m_work.queues)
        queue.clear();
    m_work.continued.assign(resources, kNoSpan);
    const bool hasPolicy = std::ranges::any_of(m_graph.resources, [](const Resource &r) { return r.policy != nullptr; });
    PolicyWorkspace &policies = m_work.policies;
    policies.notes.clear();
    for (const Resource &resource : m_graph.resources)
        policies.notes.push_back({resource.track.first, resource.track.first, kNoSpan, 0});
    policies.isHere.assign(hasPolicy ? m_graph.taskCount() : 0, 0);
    policies.isBegun.assign(policies.isHere.size(), 0);
}

void RunTimeOrder::arrive(std::uint32_t task)
{
    const std::uint32_t on = m_graph.resource[task];
    if (m_graph.resources[on].policy) {
        m_work.policies.isHere[task] = 1;
        return;
    }
    auto &queue = m_work.queues[on];
    queue.emplace_back(m_graph.priority.empty() ? 0 : m_graph.priority[task], task);
    std::ranges::push_heap(queue, std::greater{});
}

std::uint32_t RunTimeOrder::take(std::uint32_t resource)
{
    const RunTimePolicy *policy = m_graph.resources[resource].policy;
    if (!policy)
        return takeFirst(resource);
    const Choosing at{m_graph, m_work.policies, m_timeline, resource};
    std::uint32_t task = m_work.continued[resource];
    if (task == kNoSpan)
        task = policy->take(at);
    else if (!at.isHere(task))
        return kNoSpan;
    if (task == kNoSpan)
        return kNoSpan;
    m_work.policies.isBegun[task] = 1;
    m_work.continued[resource] = at.continues(task + 1) ? task + 1 : kNoSpan;
    return task;
}

std::uint32_t RunTimeOrder::takeFirst(std::uint32_t resource)
{
    auto &queue = m_work.queues[resource];
    if (queue.empty())
        return kNoSpan;
    const std::uint32_t task = queue.front().second;
    std::ranges::pop_heap(queue, std::greater{});
    queue.pop_back();
    return task;
}

} // namespace trainyard
