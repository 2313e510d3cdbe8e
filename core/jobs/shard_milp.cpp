// SPDX-License-Identifier: GPL-3.0-or-later
// Looks for a schedule of the length of the lower bound; where none exists, of one step more, and so on, until the one
// that is known is the shortest. Asking for one length leaves each task little room, so programmes stay small, and a
// length that is impossible is a bound.
#include "core/jobs/shard_milp_internal.h"

#include "core/base/units.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace trainyard {

namespace {

using detail::ShardProblem;
using detail::ShardSchedule;

Nanoseconds makespanOf(const JobRun &run)
{
    Nanoseconds last = 0;
    for (const JobTimes &job : run.jobs)
        last = std::max(last, job.end);
    return last;
}

/// Tasks and steps of a programme that is not too large: units as they are where that can be, else mini-batches, then
/// several of them, as one, with a grid that is fine beside them.
ShardProblem choose(const detail::ShardUnits &units, std::size_t mostColumns)
{
    constexpr std::int64_t kStepsPerTask = 4; // at least, where times are rounded
    std::int64_t most = 1;
    for (const auto &job : units.jobs)
        most = std::max(most, job.count());
    const auto tasksOf = [&](std::int64_t perTask) {
        double count = 0;
        for (const auto &job : units.jobs)
            count += std::ceil(static_cast<double>(job.count()) / static_cast<double>(perTask));
        return count;
    };
    for (std::int64_t perTask = 1;; perTask = perTask == 1 ? 2 : 2 * perTask) {
        const bool isLast = perTask >= most;
        if (tasksOf(perTask) > static_cast<double>(mostColumns) && !isLast)
            continue;
        const ShardProblem fine = detail::inNanoseconds(units, perTask);
        const auto fits = [&](const ShardProblem &problem) {
            return detail::columnCount(problem, detail::listSchedule(problem).length) <= mostColumns;
        };
        if (ShardProblem exact = detail::onGrid(fine, detail::commonStep(fine)); fits(exact))
            return exact;
        std::int64_t sum = 0;
        for (const auto &job : fine.jobs)
            for (const auto &task : job.tasks)
                sum += task.least();
        const auto tasks = static_cast<std::int64_t>(std::max<std::size_t>(fine.taskCount(), 1));
        for (std::int64_t steps = 64; steps >= (isLast ? 1 : kStepsPerTask); steps /= 2) // of a task, on average
            if (ShardProblem rounded = detail::onGrid(fine, std::max<std::int64_t>(sum / tasks / steps, 1));
                fits(rounded) || (isLast && steps == 1))
                return rounded;
    }
}

class Search {
    using Clock = std::chrono::steady_clock;

public:
    Search(const ShardMilpLimits &limits, std::stop_token stop, ShardMilpAnswer &answer)
        : m_limits(limits)
        , m_stop(std::move(stop))
        , m_answer(answer)
        , m_end(Clock::now()
              + std::chrono::duration_cast<Clock::duration>(
                  std::chrono::duration<double>(std::clamp(limits.seconds, 0.0, 1e6))))
    {
    }

    struct Found {
        std::optional<ShardSchedule> schedule; // shorter than `known`
        std::int64_t bound = 0; // no schedule is shorter
    };
    Expected<Found> run(const ShardProblem &problem, std::int64_t known)
    {
        Found found { .bound = std::min(detail::lowerBound(problem), known) };
        bool isBound = true; // all below it is impossible
        for (std::int64_t length = found.bound; length < known && secondsLeft() > 0;) {
            auto answer = ask(problem, length);
            if (!answer)
                return std::unexpected(answer.error());
            if (answer->schedule) {
                found.schedule = std::move(answer->schedule);
                known = length;
            } else if (answer->isImpossible) {
                ++length;
                found.bound = isBound ? length : found.bound;
            } else { // not known: a longer one is found more easily
                isBound = false;
                length += std::max<std::int64_t>((known - length) / 2, 1);
            }
        }
        return found;
    }

private:
    struct Reply {
        std::optional<ShardSchedule> schedule;
        bool isImpossible = false;
    };

    Expected<Reply> ask(const ShardProblem &problem, std::int64_t length)
    {
        const detail::ShardProgramme programme = detail::programme(problem, length);
        if (programme.isImpossible)
            return Reply { {}, true };
        // Half of what is left: where this length stays open, a longer one has its turn.
        const MilpLimits limits { .seconds = secondsLeft() / 2,
            .nodes = m_limits.nodes,
            .cuts = false,
            .stop = m_stop,
            .program = m_limits.program };
        ++m_answer.searches;
        m_answer.columns = std::max(m_answer.columns, programme.milp.columns.size());
        const auto answer = solve(programme.milp, limits);
        if (!answer && answer.error().code == ErrorCode::BadValue)
            return Reply { {}, true };
        if (!answer)
            return std::unexpected(answer.error());
        if (answer->values.empty())
            return Reply {};
        return Reply { detail::scheduleOf(problem, programme, answer->values), false };
    }

    [[nodiscard]] double secondsLeft() const { return std::chrono::duration<double>(m_end - Clock::now()).count(); }

    const ShardMilpLimits &m_limits;
    std::stop_token m_stop;
    ShardMilpAnswer &m_answer;
    Clock::time_point m_end;
};

} // namespace

Expected<ShardMilpAnswer> shardMilp(const JobSet &set, const JobRules &rules, const ShardMilpLimits &limits,
    SimulationWorkspace &workspace, std::stop_token stop)
{
    if (std::ranges::any_of(set.jobs, [](const JobSpec &job) { return job.node < 0; }) && !set.nodes.empty()) {
        JobSet dealt = set;
        dealJobs(dealt);
        return shardMilp(dealt, rules, limits, workspace, std::move(stop));
    }
    ShardMilpAnswer answer { .rules = rules, .isLrtf = true };
    answer.rules.scheduler = JobScheduler::ShardedLrtf;
    answer.rules.order.clear();
    answer.rules.numbers.clear();
    const auto lrtf = runJobs(set, answer.rules, workspace, stop);
    if (!lrtf)
        return std::unexpected(lrtf.error());
    const Nanoseconds known = makespanOf(*lrtf);
    const auto units = detail::shardUnits(set, rules);
    answer.lrtf = answer.makespan = toSeconds(known).value;
    answer.hasTransfers = units.hasTransfers;
    answer.bound = std::min(jobBounds(set).makespan(), answer.makespan);
    const auto least = detail::lowerBound(detail::inNanoseconds(units, 1));
    answer.isProven = known <= least;
    if (units.jobs.empty() || answer.isProven)
        return answer;

    const ShardProblem problem = choose(units, limits.columns);
    answer.grid = toSeconds(problem.grid).value;
    answer.unitsPerTask = problem.unitsPerTask;
    answer.isRounded = problem.isRounded;
    const bool isExact = !problem.isRounded && problem.unitsPerTask == 1 && !units.hasTransfers;
    ShardSchedule best = detail::listSchedule(problem);
    std::int64_t shortest = best.length;
    if (isExact)
        shortest = std::min(shortest, (known + problem.grid - 1) / problem.grid);
    auto found = Search(limits, stop, answer).run(problem, shortest);
    if (!found)
        return std::unexpected(found.error());
    if (found->schedule)
        best = std::move(*found->schedule);
    if (isExact)
        answer.bound = std::max(answer.bound, toSeconds(found->bound * problem.grid).value);

    JobRules followed = rules;
    followed.scheduler = JobScheduler::ShardMilp;
    auto lists = detail::listsOf(units, problem, best);
    followed.order = std::move(lists.order);
    followed.numbers = std::move(lists.numbers);
    const auto run = runJobs(set, followed, workspace, stop);
    if (!run && run.error().code == ErrorCode::Cancelled)
        return std::unexpected(run.error());
    if (run && makespanOf(*run) < known) {
        answer.rules = std::move(followed);
        answer.isLrtf = false;
        answer.makespan = toSeconds(makespanOf(*run)).value;
    }
    answer.isProven = isExact && toNanoseconds(Seconds { answer.makespan }) <= found->bound * problem.grid;
    answer.bound = std::min(answer.bound, answer.makespan);
    return answer;
}

} // namespace trainyard
