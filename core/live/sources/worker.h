#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A source that works on a thread of its own, because what it reads may let it wait (a file on a network). Nobody waits
// for that thread: it is detached, shares its Worker with the source, and calls into the sink under a lock only while
// the source is not stopped.

#include "core/live/source.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace trainyard::live {

/// How long a worker waits for room in the queue before it asks again.
inline constexpr std::chrono::milliseconds kUntilRoom(10);

class Worker : public std::enable_shared_from_this<Worker> {
public:
    Worker(SourceSink &sink, Address address);
    virtual ~Worker() = default;
    Worker(const Worker &) = delete;
    Worker &operator=(const Worker &) = delete;

    // Of the network thread
    void start();
    /// no call into the sink afterwards
    void stop();
    void setPaused(bool isPaused);
    void retryNow();
    void refuse(const Error &why);

protected:
    /// On its thread, once. Must not throw but for memory.
    virtual void run() = 0;
    /// "it goes on where it was"
    [[nodiscard]] virtual const char *pauseMeans() const = 0;

    using Milliseconds = std::chrono::milliseconds;
    /// Wakes earlier when it is stopped or paused, or asked to try now. While it is paused it waits for the end of
    /// that. False: it is stopped.
    bool wait(Milliseconds time, bool heedsRetry = true);
    /// Calls `work` with the sink, unless it is stopped; false then.
    template <class Work> bool withSink(Work work)
    {
        const std::lock_guard lock(m_mutex);
        if (!m_stop.stop_requested())
            work(m_sink);
        return !m_stop.stop_requested();
    }
    void become(SourceState state, const std::string &reason);
    /// in place of what was noted there
    void note(std::size_t place, const std::string &text);
    [[nodiscard]] bool isPaused() const;
    /// but for pauses
    [[nodiscard]] SourceState state() const;
    /// whether it was asked to try now
    [[nodiscard]] bool takeRetry();
    [[nodiscard]] std::stop_token stopToken() const { return m_stop.get_token(); }
    [[nodiscard]] const std::string &path() const { return m_path; }

private:
    void tell(SourceState state, const std::string &reason);
    void becomeLocked(SourceState state, const std::string &reason);

    SourceSink &m_sink;
    const std::string m_path;
    mutable std::mutex m_mutex;
    std::condition_variable m_wake;
    std::stop_source m_stop;
    bool m_isPaused = false, m_isAsked = false;
    /// as told
    SourceStatus m_status;
    SourceState m_state = SourceState::Idle;
    std::string m_reason;
};

/// The source of a worker.
[[nodiscard]] std::unique_ptr<Source> sourceOf(std::shared_ptr<Worker> worker);

} // namespace trainyard::live
