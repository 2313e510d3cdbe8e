#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Evaluations by plan, so that whoever asks again (a panel for what the window shows, a search for a plan that another
// way led to) is answered at once. Holds the newest, bounded by their spans. Any thread.

#include "core/evaluation/evaluate/run.h"

#include <list>
#include <mutex>

namespace trainyard {

class RunCache {
public:
    explicit RunCache(std::size_t mostEntries = 256, std::size_t mostSpans = 1'000'000)
        : m_mostEntries(mostEntries)
        , m_mostSpans(mostSpans)
    {
    }

    /// One as deep or deeper, by the same catalogue, whose problems have the fixes that are asked for; null where there
    /// is none.
    [[nodiscard]] EvaluationPtr find(const Plan &plan, Depth depth, const RunContext &asked);
    void keep(Depth depth, const RunContext &asked, EvaluationPtr evaluation);

private:
    struct Entry {
        Depth depth;
        const Catalogue *catalogue;
        const FixFinder *fixes;
        OpenReplicas replicas;
        EvaluationPtr evaluation;
    };

    std::size_t m_mostEntries, m_mostSpans;
    std::mutex m_mutex;
    /// the newest first
    std::list<Entry> m_entries;
    std::size_t m_spans = 0;
};

} // namespace trainyard
