// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/work_pool.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#ifdef __linux__
#include <sys/resource.h>
#endif

namespace trainyard {

namespace {

thread_local std::size_t numberOfThread = 0;

void lowerThreadPriority()
{
#ifdef __linux__
    setpriority(PRIO_PROCESS, 0, 12);   // of the calling thread
#endif
}

/// One call of each(), which late helpers may find finished.
struct Share {
    std::size_t count = 0;
    const std::function<void(std::size_t)> *body = nullptr;
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::condition_variable allDone;
    std::size_t done = 0;          // under mutex

    void take()
    {
        for (std::size_t index = next++; index < count; index = next++) {
            (*body)(index);
            const std::lock_guard lock(mutex);
            if (++done == count)
                allDone.notify_all();
        }
    }
};

} // namespace

WorkPool::WorkPool(std::size_t searchers)
{
    if (searchers == 0)
        searchers = std::max(1u, std::thread::hardware_concurrency());
    m_threads.reserve(searchers + 1);
    for (std::size_t i = 0; i <= searchers; ++i)
        m_threads.emplace_back([this, i](const std::stop_token &stop) { serve(stop, i); });
}

WorkPool::~WorkPool()
{
    for (std::jthread &thread : m_threads)
        thread.request_stop();
    m_threads.clear();
}

std::size_t WorkPool::here()
{
    return numberOfThread;
}

void WorkPool::submit(Rank rank, Task task)
{
    {
        const std::lock_guard lock(m_mutex);
        (rank == Rank::Awaited ? m_awaited : m_searches).push_back(std::move(task));
    }
    m_wake.notify_all();
}

void WorkPool::each(std::size_t count, const std::function<void(std::size_t)> &body)
{
    const auto share = std::make_shared<Share>();
    share->count = count;
    share->body = &body;
    for (std::size_t helper = 1; helper < std::min(count, threads()); ++helper)
        submit(Rank::Search, [share] { share->take(); });
    share->take();
    std::unique_lock lock(share->mutex);
    share->allDone.wait(lock, [&] { return share->done == share->count; });
}

void WorkPool::serve(const std::stop_token &stop, std::size_t thread)
{
    numberOfThread = thread;
    std::deque<Task> &queue = thread == 0 ? m_awaited : m_searches;
    if (thread > 0)
        lowerThreadPriority();
    while (true) {
        Task task;
        {
            std::unique_lock lock(m_mutex);
            if (!m_wake.wait(lock, stop, [&] { return !queue.empty(); }) || stop.stop_requested())
                return;
            task = std::move(queue.front());
            queue.pop_front();
        }
        task();
    }
}

} // namespace trainyard
