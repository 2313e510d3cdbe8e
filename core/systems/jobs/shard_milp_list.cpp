// SPDX-License-Identifier: GPL-3.0-or-later
// A schedule to begin with, and how short none can be.
#include "core/systems/jobs/shard_milp_internal.h"

#include <algorithm>
#include <numeric>
#include <queue>

namespace trainyard::detail {

namespace {

struct End {
    std::int64_t time;
    std::size_t job;
    int gpuClass;
    bool operator>(const End &other) const { return time > other.time; }
};

class ListScheduler {
public:
    explicit ListScheduler(const ShardProblem &problem)
        : m_problem(problem)
        , m_free(problem.capacity)
        , m_jobs(problem.jobs.size())
    {
        for (std::size_t i = 0; i < m_jobs.size(); ++i) {
            for (const ShardTask &task : problem.jobs[i].tasks)
                m_jobs[i].remaining += task.least();
            m_schedule.starts.emplace_back(problem.jobs[i].tasks.size());
            m_ends.push({ problem.jobs[i].arrival, i, -1 });
        }
    }

    ShardSchedule run()
    {
        while (!m_ends.empty()) {
            m_now = m_ends.top().time;
            while (!m_ends.empty() && m_ends.top().time == m_now) {
                const auto [time, job, gpuClass] = m_ends.top();
                m_ends.pop();
                finish(job, gpuClass);
            }
            m_schedule.length = std::max(m_schedule.length, m_now);
            for (std::size_t c = 0; c < m_free.size(); ++c)
                while (m_free[c] > 0 && beginOn(c)) { }
        }
        return std::move(m_schedule);
    }

private:
    struct Job {
        std::size_t next = 0;
        std::int64_t remaining = 0; // of tasks that have not ended
        bool isReady = false;
    };

    void finish(std::size_t index, int gpuClass)
    {
        Job &job = m_jobs[index];
        if (gpuClass >= 0) {
            ++m_free[static_cast<std::size_t>(gpuClass)];
            job.remaining -= m_problem.jobs[index].tasks[job.next++].least();
        }
        job.isReady = job.next < m_problem.jobs[index].tasks.size();
    }

    bool beginOn(std::size_t gpuClass)
    {
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i < m_jobs.size(); ++i)
            if (m_jobs[i].isReady && m_problem.jobs[i].tasks[m_jobs[i].next].time[gpuClass] != kCannot
                && (!best || m_jobs[i].remaining > m_jobs[*best].remaining))
                best = i;
        if (!best)
            return false;
        Job &job = m_jobs[*best];
        job.isReady = false;
        --m_free[gpuClass];
        m_schedule.starts[*best][job.next] = { m_now, static_cast<int>(gpuClass) };
        m_ends.push(
            { m_now + m_problem.jobs[*best].tasks[job.next].time[gpuClass], *best, static_cast<int>(gpuClass) });
        return true;
    }

    const ShardProblem &m_problem;
    std::vector<int> m_free;
    std::vector<Job> m_jobs;
    std::priority_queue<End, std::vector<End>, std::greater<>> m_ends;
    std::int64_t m_now = 0;
    ShardSchedule m_schedule;
};

struct Work { // of a job
    std::int64_t arrival, least;
};

/// No job is done before its own work is; and what arrives at a time or later is shared by all GPUs from then on.
std::int64_t boundOf(std::vector<Work> works, const std::vector<int> &capacity)
{
    std::ranges::sort(works, std::greater {}, &Work::arrival);
    const std::int64_t gpus = std::accumulate(capacity.begin(), capacity.end(), std::int64_t { 0 });
    std::int64_t sum = 0, bound = 0;
    for (const Work &work : works) {
        sum += work.least;
        bound = std::max(
            { bound, work.arrival + work.least, work.arrival + (sum + gpus - 1) / std::max<std::int64_t>(gpus, 1) });
    }
    return bound;
}

} // namespace

ShardSchedule listSchedule(const ShardProblem &problem)
{
    return ListScheduler(problem).run();
}

std::int64_t lowerBound(const ShardProblem &problem)
{
    std::vector<Work> works;
    for (const ShardProblem::Job &job : problem.jobs) {
        works.push_back({ job.arrival, 0 });
        for (const ShardTask &task : job.tasks)
            works.back().least += task.least();
    }
    return boundOf(std::move(works), problem.capacity);
}

Nanoseconds lowerBound(const ShardUnits &units)
{
    std::vector<Work> works;
    for (const ShardUnits::Job &job : units.jobs) {
        std::int64_t minibatch = 0;
        for (std::size_t unit = 0; unit < static_cast<std::size_t>(job.perMinibatch()); ++unit) {
            std::int64_t least = kCannot;
            for (const auto &times : job.times)
                if (!times.empty() && (least == kCannot || times[unit] < least))
                    least = times[unit];
            minibatch += least;
        }
        works.push_back({ job.arrival, minibatch * job.minibatches });
    }
    return boundOf(std::move(works), units.capacity);
}

} // namespace trainyard::detail
