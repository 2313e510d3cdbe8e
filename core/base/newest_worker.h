#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One background thread with a mailbox that holds only the newest request: what waits is replaced, what runs is stopped only
// where the caller says so. All members may be called from any thread but the worker's own.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace trainyard {

template <class Request>
class NewestWorker {
public:
    /// On the background thread, one request at a time; returns early where the token says so. Must not throw.
    using Work = std::function<void(Request request, const std::stop_token &stop)>;

    /// `prepare` runs once on the background thread, before any work.
    explicit NewestWorker(Work work, std::function<void()> prepare = {})
        : m_work(std::move(work)), m_thread([this, prepare = std::move(prepare)](const std::stop_token &stop) {
              if (prepare)
                  prepare();
              run(stop);
          })
    {
    }
    /// Stops what runs and waits for its end.
    ~NewestWorker()
    {
        m_thread.request_stop();
        const std::lock_guard lock(m_mutex);
        m_running.request_stop();
    }
    NewestWorker(const NewestWorker &) = delete;
    NewestWorker &operator=(const NewestWorker &) = delete;

    /// Replaces the request that waits, if any; nothing: takes it away.
    void post(std::optional<Request> request, bool stopsRunning)
    {
        {
            const std::lock_guard lock(m_mutex);
            m_waiting = std::move(request);
            if (stopsRunning)
                m_running.request_stop();
        }
        m_wake.notify_one();
    }

private:
    void run(const std::stop_token &stop)
    {
        while (true) {
            std::optional<Request> request;
            std::stop_token running;
            {
                std::unique_lock lock(m_mutex);
                if (!m_wake.wait(lock, stop, [this] { return m_waiting.has_value(); }) || stop.stop_requested())
                    return;
                request = std::exchange(m_waiting, std::nullopt);
                m_running = std::stop_source{};
                running = m_running.get_token();
            }
            m_work(std::move(*request), running);
        }
    }

    Work m_work;
    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::optional<Request> m_waiting;      // under m_mutex
    std::stop_source m_running;            // under m_mutex
    std::jthread m_thread;                 // last: it uses everything above
};

} // namespace trainyard
