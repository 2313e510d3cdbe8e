// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/run_time_order.h"

#include <algorithm>

namespace trainyard {

void RunTimeOrder::reset()
{
    const std::size_t resources = m_graph.resources.size();
    m_work.queues.resize(resources);
    for (auto &queue : m_work.queues)
        queue.clear();
    m_work.continued.assign(resources, kNoSpan);
    const bool hasPolicy =
        std::ranges::any_of(m_graph.resources, [](const Resource &r) { return r.policy != nullptr; });
    PolicyWorkspace &policies = m_work.policies;
    policies.notes.clear();
    for (const Resource &resource : m_graph.resources)
        policies.notes.push_back({ resource.track.first, resource.track.first, kNoSpan, 0 });
    policies.isHere.assign(hasPolicy ? m_graph.taskCount() : 0, 0);
    policies.isBegun.assign(policies.isHere.size(), 0);
}

} // namespace trainyard
