// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/work_pool.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <exception>
#include <utility>

#ifdef __linux__
#include <sys/resource.h>
#endif

namespace trainyard {

namespace {

thread_local const WorkPool *poolOfThread = nullptr;
thread_local std::size_t numberOfThread = 0;

void lowerThreadPriority()
{
#ifdef __linux__
    setpriority(PRIO_PROCESS, 0, 12); // of the calling thread
#endif
}

} // namespace

/// One call of each(), which late helpers may find finished.
struct WorkPool::Share {
    std::size_t count = 0;
    const std::function<void(std::size_t)> *body = nullptr;
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::condition_variable allDone;
    std::size_t done = 0; // these two: under mutex
    std::exception_ptr failure;

    /// False where none is left.
    bool takeOne()
    {
        const std::size_t index = next++;
        if (index >= count)
            return false;
        std::exception_ptr thrown;
        try {
            (*body)(index);
        } catch (...) {
            thrown = std::current_exception();
        }
        const std::lock_guard lock(mutex);
        if (thrown && !failure)
            failure = thrown;
        if (++done == count)
            allDone.notify_all();
        return true;
    }
};

WorkPool::WorkPool(std::size_t searchers, Manner manner)
    : m_manner(manner)
{
    if (searchers == 0)
        searchers = std::max(2u, std::thread::hardware_concurrency());
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

std::size_t WorkPool::here() const
{
    assert(poolOfThread == this);
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
        submit(Rank::Search, [this, share] { help(share); });
    while (share->takeOne()) { }
    std::unique_lock lock(share->mutex);
    share->allDone.wait(lock, [&] { return share->done == share->count; });
    if (share->failure)
        std::rethrow_exception(share->failure);
}

void WorkPool::help(const std::shared_ptr<Share> &share)
{
    if (share->takeOne())
        submit(Rank::Search, [this, share] { help(share); });
}

void WorkPool::serve(const std::stop_token &stop, std::size_t thread)
{
    poolOfThread = this;
    numberOfThread = thread;
    std::deque<Task> &queue = thread == 0 ? m_awaited : m_searches;
    if (thread > 0 && m_manner == Manner::Polite)
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
