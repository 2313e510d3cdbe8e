// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/search/search_threads.h"

#include <future>
#include <thread>

namespace trainyard {

SearchThreads::SearchThreads(std::size_t threads)
{
    if (threads == 0)
        threads = std::max(1U, std::thread::hardware_concurrency());
    if (threads > 1)
        m_pool = std::make_unique<WorkPool>(threads - 1, WorkPool::Manner::Equal);
}

void SearchThreads::each(std::size_t count, const std::function<void(std::size_t, std::size_t)> &body)
{
    if (!m_pool) {
        for (std::size_t i = 0; i < count; ++i)
            body(i, 0);
        return;
    }
    std::promise<void> done;
    m_pool->submit(WorkPool::Rank::Awaited, [&] {
        try {
            m_pool->each(count, [&](std::size_t index) { body(index, m_pool->here()); });
            done.set_value();
        } catch (...) {
            done.set_exception(std::current_exception());
        }
    });
    done.get_future().get();
}

} // namespace trainyard
