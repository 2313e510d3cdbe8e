// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluate/run_cache.h"

#include <algorithm>

namespace trainyard {

EvaluationPtr RunCache::find(const Plan &plan, Depth depth, const FixFinder *fixes)
{
    const std::lock_guard lock(m_mutex);
    const auto answers = [&](const Entry &entry) {
        // The shallow ones look at another placement: of the least bound, or the nearest to fitting.
        const bool isDeep = depth < Depth::Score ? entry.depth == depth : entry.depth >= depth;
        return isDeep && (depth != Depth::Everything || entry.fixes == fixes) && (entry.evaluation->plan.get() == &plan || *entry.evaluation->plan == plan);
    };
    const auto found = std::ranges::find_if(m_entries, answers);
    if (found == m_entries.end())
        return nullptr;
    m_entries.splice(m_entries.begin(), m_entries, found);
    return found->evaluation;
}

void RunCache::keep(Depth depth, const FixFinder *fixes, EvaluationPtr evaluation)
{
    const std::lock_guard lock(m_mutex);
    m_spans += evaluation->timeline.spanCount();
    m_entries.push_front({depth, fixes, std::move(evaluation)});
    while (m_entries.size() > 1 && (m_entries.size() > m_mostEntries || m_spans > m_mostSpans)) {
        m_spans -= m_entries.back().evaluation->timeline.spanCount();
        m_entries.pop_back();
    }
}

} // namespace trainyard
