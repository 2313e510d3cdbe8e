#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that evaluates plans for a window: the threads, a workspace each, and what was evaluated lately.

#include "core/base/work_pool.h"
#include "core/evaluation/evaluate/run_cache.h"

namespace trainyard {

class RunPool {
public:
    explicit RunPool(std::size_t searchers = 0);
    /// The program's.
    [[nodiscard]] static RunPool &shared();

    /// Of the thread that asks: one of the pool.
    [[nodiscard]] EvaluationWorkspace &workspace() { return m_workspaces[m_threads.here()]; }
    /// After a failure that may have left it half written.
    void renewWorkspace() { workspace() = EvaluationWorkspace(m_graphs); }
    [[nodiscard]] RunCache &cache() { return m_cache; }
    [[nodiscard]] WorkPool &threads() { return m_threads; }

private:
    std::shared_ptr<GraphCache> m_graphs;
    std::vector<EvaluationWorkspace> m_workspaces;
    RunCache m_cache;
    /// last: they use everything above
    WorkPool m_threads;
};

} // namespace trainyard
