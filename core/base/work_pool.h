#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The threads on which everything is worked out: one for what somebody waits for, the others, of low priority, for
// searches, which take what it leaves of the processor. All members may be called from any thread.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace trainyard {

class WorkPool {
public:
    enum class Rank : unsigned char { Awaited, Search };
    /// Must not throw.
    using Task = std::function<void()>;

    /// Whether searchers leave the processor to others: not where a command does nothing else.
    enum class Manner : unsigned char { Polite, Equal };

    /// Of `searchers` threads beside the one for what is awaited; 0: as many as the processor has cores, at least two.
    explicit WorkPool(std::size_t searchers = 0, Manner manner = Manner::Polite);
    /// Waits for what runs; what has not begun is dropped.
    ~WorkPool();
    WorkPool(const WorkPool &) = delete;
    WorkPool &operator=(const WorkPool &) = delete;

    [[nodiscard]] std::size_t threads() const { return m_threads.size(); }
    /// The number of the pool's thread that asks, below threads(). Only on one of them.
    [[nodiscard]] std::size_t here() const;
    void submit(Rank rank, Task task);
    /// From a thread of the pool: calls body(index) once for each index below `count`, here and on searchers, which
    /// take one at a time, in turn with what else waits for them; returns when all calls have. Throws what the first
    /// call that failed threw.
    void each(std::size_t count, const std::function<void(std::size_t index)> &body);

private:
    struct Share;
    void help(const std::shared_ptr<Share> &share);
    void serve(const std::stop_token &stop, std::size_t thread);

    Manner m_manner;
    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    /// under m_mutex
    std::deque<Task> m_awaited, m_searches;
    /// the first takes what is awaited
    std::vector<std::jthread> m_threads;
};

} // namespace trainyard
