// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/advice/run_pool.h"

#include <algorithm>

namespace trainyard {

RunPool::RunPool(std::size_t searchers)
    : m_workspaces(1 + (searchers > 0 ? searchers : std::max(1u, std::thread::hardware_concurrency()))), m_threads(m_workspaces.size() - 1)
{
}

RunPool &RunPool::shared()
{
    static RunPool pool;
    return pool;
}

} // namespace trainyard
