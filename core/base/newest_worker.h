#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A mailbox that holds only the newest request, worked on by a pool, one request at a time: what waits is replaced,
// what runs is stopped only where the caller says so. All members may be called from any thread but the one that works
// on a request.

#include "core/base/work_pool.h"

#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace trainyard {

template <class Request> class NewestWorker {
public:
    /// On a thread of the pool; returns early where the token says so. Must not throw.
    using Work = std::function<void(Request request, const std::stop_token &stop)>;

    NewestWorker(WorkPool &pool, WorkPool::Rank rank, Work work)
        : m_pool(pool)
        , m_rank(rank)
        , m_box(std::make_shared<Box>())
    {
        m_box->work = std::move(work);
    }
    /// Stops what runs and waits for its end.
    ~NewestWorker()
    {
        std::unique_lock lock(m_box->mutex);
        m_box->waiting.reset();
        m_box->isClosed = true;
        m_box->running.request_stop();
        m_box->ended.wait(lock, [this] { return !m_box->isRunning; });
    }
    NewestWorker(const NewestWorker &) = delete;
    NewestWorker &operator=(const NewestWorker &) = delete;

    /// Replaces the request that waits, if any; nothing: takes it away.
    void post(std::optional<Request> request, bool stopsRunning)
    {
        const std::lock_guard lock(m_box->mutex);
        m_box->waiting = std::move(request);
        if (stopsRunning)
            m_box->running.request_stop();
        if (!m_box->waiting || m_box->isQueued)
            return;
        m_pool.submit(m_rank, [box = m_box, &pool = m_pool, rank = m_rank] { Box::serve(box, pool, rank); });
        m_box->isQueued = true;
    }

private:
    /// Outlives its owner where it is still queued.
    struct Box {
        Work work;
        std::mutex mutex;
        std::condition_variable ended;
        std::optional<Request> waiting;
        std::stop_source running;
        bool isQueued = false, isRunning = false, isClosed = false;

        /// One request; for the next it queues again, behind what others asked for.
        static void serve(const std::shared_ptr<Box> &box, WorkPool &pool, WorkPool::Rank rank)
        {
            std::optional<Request> request;
            std::stop_token stop;
            {
                const std::lock_guard lock(box->mutex);
                request = std::exchange(box->waiting, std::nullopt);
                box->isRunning = request.has_value() && !box->isClosed;
                box->isQueued = box->isRunning;
                if (!box->isRunning)
                    return;
                box->running = std::stop_source {};
                stop = box->running.get_token();
            }
            box->work(std::move(*request), stop);
            const std::lock_guard lock(box->mutex);
            box->isRunning = false;
            box->isQueued = box->waiting.has_value();
            if (box->isQueued)
                pool.submit(rank, [box, &pool, rank] { serve(box, pool, rank); });
            box->ended.notify_all();
        }
    };

    WorkPool &m_pool;
    WorkPool::Rank m_rank;
    std::shared_ptr<Box> m_box;
};

} // namespace trainyard
