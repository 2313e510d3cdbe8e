// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/run_pool.h"

#include "core/engine/timeline/graph_cache.h"

namespace trainyard {

RunPool::RunPool(std::size_t searchers)
    : m_graphs(std::make_shared<GraphCache>())
    , m_threads(searchers)
{
    for (std::size_t i = 0; i < m_threads.threads(); ++i)
        m_workspaces.emplace_back(m_graphs);
}

RunPool &RunPool::shared()
{
    static RunPool pool;
    return pool;
}

} // namespace trainyard
