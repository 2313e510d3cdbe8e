// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/run_cache.h"

#include "core/iteration/layouts/placements.h"

#include <algorithm>
#include <iterator>

namespace trainyard {

EvaluationPtr RunCache::find(const Plan &plan, Depth depth, const RunContext &asked)
{
    const std::lock_guard lock(m_mutex);
    const auto answers = [&](const Entry &entry) {
        // The shallow ones look at another placement: of the least bound, or the nearest to fitting.
        const bool isDeep = depth < Depth::Score ? entry.depth == depth : entry.depth >= depth;
        // Who asks for less did not have fixes looked for, and is not told how far.
        const auto &problems = entry.evaluation->problems;
        if (entry.depth > depth && std::ranges::any_of(problems, &Problem::saysWhatWasLeftOut))
            return false;
        return isDeep && entry.catalogue == &asked.catalogue && (entry.replicas == asked.replicas || !isOpen(plan))
            && (depth != Depth::Everything || entry.fixes == asked.fixes)
            && (entry.evaluation->plan.get() == &plan || *entry.evaluation->plan == plan);
    };
    const auto found = std::ranges::find_if(m_entries, answers);
    if (found == m_entries.end())
        return nullptr;
    m_entries.splice(m_entries.begin(), m_entries, found);
    return found->evaluation;
}

void RunCache::keep(Depth depth, const RunContext &asked, EvaluationPtr evaluation)
{
    std::list<Entry> dropped; // freed after the lock
    const std::lock_guard lock(m_mutex);
    m_spans += evaluation->timeline.spanCount();
    m_entries.push_front({ depth, &asked.catalogue, asked.fixes, asked.replicas, std::move(evaluation) });
    while (m_entries.size() > 1 && (m_entries.size() > m_mostEntries || m_spans > m_mostSpans)) {
        m_spans -= m_entries.back().evaluation->timeline.spanCount();
        dropped.splice(dropped.begin(), m_entries, std::prev(m_entries.end()));
    }
}

} // namespace trainyard
