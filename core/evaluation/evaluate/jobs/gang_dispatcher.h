#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which job takes which GPUs when some are free, and when its spans begin there. Internal to
// core/evaluation/evaluate/jobs.

#include "core/engine/timeline/dispatcher.h"
#include "core/evaluation/evaluate/jobs/gang_patterns.h"

#include <queue>
#include <set>
#include <utility>

namespace trainyard {

struct GangShow { // what a job shows while it runs in one of its forms
    /// so often
    const GangPattern *pattern = nullptr;
    std::int64_t times = 0;
    /// then once; null: nothing is left
    const GangPattern *rest = nullptr;
    /// of each span of the two
    std::vector<std::uint32_t> classes, restClasses;
};
struct GangTask { // one job
    const GangJob *gang = nullptr;
    Nanoseconds arrival = 0;
    double priority = 0;
    /// [form]
    std::vector<Nanoseconds> lengths;
    /// [form]
    std::vector<GangShow> shows;
};

class GangDispatcher final : public Dispatcher {
public:
    /// `nodes`: of each GPU.
    GangDispatcher(const std::vector<GangTask> &tasks, std::vector<int> nodes);

    struct Ran {
        Nanoseconds start = -1, end = -1;
        int form = -1;
        GpuList gpus;
    };
    [[nodiscard]] const std::vector<Ran> &ran() const { return m_ran; } // [task]

    void ended(Dispatch &, std::uint32_t) override { }
    void choose(Dispatch &at) override;
    [[nodiscard]] std::string leftOver() const override;

private:
    enum class What : std::uint8_t { End, Arrival, Spans };
    struct Event {
        Nanoseconds time;
        What what;
        std::uint32_t task;
        auto operator<=>(const Event &) const = default;
    };
    struct Showing { // of a task that runs
        /// patterns
        std::int64_t done = 0;
        /// span
        std::size_t next = 0;
        /// numbers of the pattern's spans
        std::vector<std::uint32_t> begun;
        /// that ended last before the pattern
        std::uint32_t last = kNoSpan;
    };

    /// by priority, highest first, then by number
    using Waiting = std::pair<double, std::uint32_t>;

    [[nodiscard]] bool isFree(int gpu) const
    {
        return !m_isHeld[std::size_t(gpu)] && m_keptIn[std::size_t(gpu)] != m_round;
    }
    /// Jobs that want the same GPUs are of one queue: where the first cannot start, none can.
    void makeQueues();
    void wait(const Waiting &task);
    void startWaiting(Dispatch &at);
    [[nodiscard]] bool tryStart(Dispatch &at, std::uint32_t task);
    [[nodiscard]] GpuList seats(const GangForm &form) const;
    void keepFor(const GangTask &task);
    void hold(const GpuList &gpus, bool isHeld);
    void show(Dispatch &at, std::uint32_t task);

    const std::vector<GangTask> &m_tasks;
    std::vector<int> m_nodes;
    std::vector<Ran> m_ran;
    std::vector<Showing> m_showing;
    /// [task]
    std::vector<std::uint32_t> m_queueOf;
    std::vector<std::set<Waiting>> m_queues;
    /// of each queue that is not empty
    std::set<Waiting> m_first;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> m_events;
    /// [GPU]
    std::vector<char> m_isHeld;
    /// [GPU]: round in which somebody waits for it
    std::vector<std::uint32_t> m_keptIn;
    std::uint32_t m_round = 0;
    /// GPUs neither held nor kept
    std::int64_t m_free = 0;
};

} // namespace trainyard
