// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a schedule of a given length exists, as a programme. With z(k, c, t) = 1 where task k has begun on class c by
// time t:
//   z(k, c, t) <= z(k, c, t + 1),  sum over c of z(k, c, last) = 1
//   sum over c of z(k + 1, c, t) <= sum over c of z(k, c, t - d(k, c))          a job's tasks follow each other
//   sum over k of z(k, c, t) - z(k, c, t - d(k, c)) <= GPUs of the class         those that run at t
// Rows have few terms, and branching says "begun by t", which halves what is left. Jobs that are alike begin in the
// order of the list, which costs nothing and spares proofs for every permutation.
#include "core/systems/jobs/shard_milp_internal.h"

#include <algorithm>

namespace trainyard::detail {

namespace {

using Terms = std::vector<Milp::Term>;

class Writer {
public:
    Writer(const ShardProblem &problem, std::int64_t length)
        : m_problem(problem)
        , m_length(length)
    {
    }

    ShardProgramme run()
    {
        for (std::size_t job = 0; job < m_problem.jobs.size(); ++job)
            addJob(job);
        if (m_programme.isImpossible)
            return std::move(m_programme);
        for (std::size_t job = 0; job < m_problem.jobs.size(); ++job) {
            for (std::size_t task = 1; task < m_problem.jobs[job].tasks.size(); ++task)
                follow(job, task);
            const auto alike = std::find(
                m_problem.jobs.begin(), m_problem.jobs.begin() + static_cast<std::ptrdiff_t>(job), m_problem.jobs[job]);
            m_alike.push_back(job);
            if (const auto other = static_cast<std::size_t>(alike - m_problem.jobs.begin()); other < job) {
                beginAfter(job, m_alike[other]);
                m_alike[other] = job; // the next one alike waits for this
            }
        }
        share();
        return std::move(m_programme);
    }

private:
    void addJob(std::size_t index)
    {
        const ShardProblem::Job &job = m_problem.jobs[index];
        std::int64_t after = 0, before = job.arrival;
        for (const ShardTask &task : job.tasks)
            after += task.least();
        auto &windows = m_programme.windows.emplace_back();
        for (const ShardTask &task : job.tasks) {
            after -= task.least();
            auto &here = windows.emplace_back(task.time.size());
            Terms begun;
            for (std::size_t c = 0; c < here.size(); ++c)
                if (task.time[c] != kCannot) {
                    here[c] = { before, m_length - after - task.time[c],
                        addColumns(before, m_length - after - task.time[c]) };
                    if (here[c].first <= here[c].last)
                        begun.push_back({ columnAt(here[c], here[c].last), 1 });
                }
            before += task.least();
            m_programme.isImpossible = m_programme.isImpossible || begun.empty();
            if (begun.size() == 1)
                m_programme.milp.columns[begun.front().column].low = 1;
            else if (begun.size() > 1)
                m_programme.milp.row(begun, 1, 1);
        }
    }

    std::uint32_t addColumns(std::int64_t first, std::int64_t last)
    {
        const auto column = static_cast<std::uint32_t>(m_programme.milp.columns.size());
        for (std::int64_t t = first; t <= last; ++t) {
            const std::uint32_t each = m_programme.milp.column(0, 0, 1, true);
            if (t > first)
                m_programme.milp.row({ { each - 1, 1 }, { each, -1 } }, -Milp::kInfinity, 0);
        }
        return column;
    }

    static std::uint32_t columnAt(const ShardProgramme::Window &window, std::int64_t time)
    {
        return window.column + static_cast<std::uint32_t>(std::min(time, window.last) - window.first);
    }

    /// Adds whether it has begun by then; says whether that is certain already.
    bool begun(Terms &terms, std::size_t job, std::size_t task, std::size_t c, std::int64_t time, double factor) const
    {
        const ShardProgramme::Window &window = m_programme.windows[job][task][c];
        if (window.last < window.first || time < window.first)
            return false;
        terms.push_back({ columnAt(window, time), factor });
        return m_programme.milp.columns[terms.back().column].low == 1;
    }

    struct Span {
        std::int64_t first, last;
    };
    [[nodiscard]] Span span(std::size_t job, std::size_t task) const
    {
        Span all { m_length, -1 };
        for (const ShardProgramme::Window &window : m_programme.windows[job][task])
            if (window.first <= window.last)
                all = { std::min(all.first, window.first), std::max(all.last, window.last) };
        return all;
    }

    void follow(std::size_t job, std::size_t task)
    {
        const auto [first, last] = span(job, task);
        const ShardTask &before = m_problem.jobs[job].tasks[task - 1];
        for (std::int64_t t = first; t <= last; ++t) {
            Terms terms;
            bool isCertain = false;
            for (std::size_t c = 0; c < before.time.size(); ++c) {
                begun(terms, job, task, c, t, 1);
                isCertain = begun(terms, job, task - 1, c, t - before.time[c], -1) || isCertain;
            }
            if (!isCertain)
                m_programme.milp.row(std::move(terms), -Milp::kInfinity, 0);
        }
    }

    void beginAfter(std::size_t job, std::size_t other)
    {
        const auto [first, last] = span(job, 0);
        for (std::int64_t t = first; t < last; ++t) {
            Terms terms;
            for (std::size_t c = 0; c < m_problem.capacity.size(); ++c) {
                begun(terms, job, 0, c, t, 1);
                begun(terms, other, 0, c, t, -1);
            }
            m_programme.milp.row(std::move(terms), -Milp::kInfinity, 0);
        }
    }

    void share()
    {
        for (std::size_t c = 0; c < m_problem.capacity.size(); ++c)
            for (std::int64_t t = 0; t < m_length; ++t) {
                Terms terms;
                int jobs = 0;
                for (std::size_t job = 0; job < m_problem.jobs.size(); ++job)
                    jobs += running(terms, job, c, t);
                if (jobs > m_problem.capacity[c])
                    m_programme.milp.row(std::move(terms), -Milp::kInfinity, m_problem.capacity[c]);
            }
    }

    /// Whether a task of the job may run there then.
    bool running(Terms &terms, std::size_t job, std::size_t c, std::int64_t time) const
    {
        bool mayRun = false;
        for (std::size_t task = 0; task < m_problem.jobs[job].tasks.size(); ++task) {
            const std::int64_t lasts = m_problem.jobs[job].tasks[task].time[c];
            const ShardProgramme::Window &window = m_programme.windows[job][task][c];
            if (window.first > window.last || time < window.first || time >= window.last + lasts)
                continue; // not begun, or ended for certain
            begun(terms, job, task, c, time, 1);
            begun(terms, job, task, c, time - lasts, -1);
            mayRun = true;
        }
        return mayRun;
    }

    const ShardProblem &m_problem;
    std::int64_t m_length;
    std::vector<std::size_t> m_alike; // [job]: the last one that is alike
    ShardProgramme m_programme;
};

} // namespace

std::size_t columnCount(const ShardProblem &problem, std::int64_t length)
{
    double count = 0;
    for (const ShardProblem::Job &job : problem.jobs) {
        std::int64_t work = 0;
        for (const ShardTask &task : job.tasks)
            work += task.least();
        for (const ShardTask &task : job.tasks)
            for (const std::int64_t time : task.time)
                if (time != kCannot)
                    count += static_cast<double>(
                        std::max<std::int64_t>(length - job.arrival - work + task.least() - time + 1, 0));
    }
    return static_cast<std::size_t>(std::min(count, 1e15));
}

ShardProgramme programme(const ShardProblem &problem, std::int64_t length)
{
    return Writer(problem, length).run();
}

ShardSchedule scheduleOf(
    const ShardProblem &problem, const ShardProgramme &programme, const std::vector<double> &values)
{
    ShardSchedule schedule;
    for (std::size_t job = 0; job < problem.jobs.size(); ++job) {
        auto &starts = schedule.starts.emplace_back();
        for (std::size_t task = 0; task < problem.jobs[job].tasks.size(); ++task) {
            ShardSchedule::Start start;
            for (std::size_t c = 0; c < problem.capacity.size(); ++c) {
                const ShardProgramme::Window &window = programme.windows[job][task][c];
                for (std::int64_t t = window.first; t <= window.last; ++t)
                    if (values[window.column + static_cast<std::uint32_t>(t - window.first)] > 0.5) {
                        start = { t, static_cast<int>(c) };
                        break;
                    }
            }
            const std::int64_t lasts = problem.jobs[job].tasks[task].time[static_cast<std::size_t>(start.gpuClass)];
            schedule.length = std::max(schedule.length, start.time + lasts);
            starts.push_back(start);
        }
    }
    return schedule;
}

} // namespace trainyard::detail
