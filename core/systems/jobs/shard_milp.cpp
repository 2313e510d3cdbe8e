// SPDX-License-Identifier: GPL-3.0-or-later
// Looks for a schedule of the length of the lower bound; where none exists, of one step more, and so on, until the one
// that is known is the shortest. Asking for one length leaves each task little room, so programmes stay small, and a
// length that is impossible is a bound.
#include "core/systems/jobs/shard_milp_internal.h"

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

std::int64_t listLength(const ShardProblem &problem)
{
    return detail::listSchedule(problem).length;
}

/// Whole steps where such a programme is not too large, else rounded ones that are fine beside the tasks, or just there
/// where it is the last chance; nothing where neither can be.
std::optional<ShardProblem> onSomeGrid(const ShardProblem &fine, std::size_t mostColumns, bool isLast)
{
    constexpr std::int64_t kFewest = 4, kMost = 64; // steps of a task, on average, where times are rounded
    const auto fits = [&](const ShardProblem &problem) {
        return detail::columnCount(problem, listLength(problem)) <= mostColumns;
    };
    if (ShardProblem exact = detail::onGrid(fine, detail::commonStep(fine)); fits(exact))
        return exact;
    std::int64_t sum = 0;
    for (const auto &job : fine.jobs)
        for (const auto &task : job.tasks)
            sum += task.least();
    const auto tasks = static_cast<std::int64_t>(std::max<std::size_t>(fine.taskCount(), 1));
    for (std::int64_t steps = kMost; steps >= (isLast ? 1 : kFewest); steps /= 2)
        if (ShardProblem rounded = detail::onGrid(fine, std::max<std::int64_t>(sum / tasks / steps, 1)); fits(rounded))
            return rounded;
    return std::nullopt;
}

/// Programmes to try, in this order. The finest that is not too large: units as they are, else mini-batches, then
/// several of them, as one. Before units, where there are many, mini-batches: those are soon done, and are enough
/// where their schedule is as short as any can be.
std::vector<ShardProblem> problemsOf(const detail::ShardUnits &units, std::size_t mostColumns)
{
    constexpr std::size_t kFewColumns = 1500, kLastTimes = 8;
    std::int64_t most = 1;
    for (const auto &job : units.jobs)
        most = std::max(most, job.count());
    std::vector<ShardProblem> problems;
    bool isLast = false;
    for (std::int64_t perTask = 1; problems.empty() && !isLast; perTask = perTask == 1 ? 2 : 2 * perTask) {
        isLast = perTask >= most;
        const std::size_t columns = isLast ? kLastTimes * mostColumns : mostColumns;
        double tasks = 0;
        for (const auto &job : units.jobs)
            tasks += std::ceil(static_cast<double>(job.count()) / static_cast<double>(perTask));
        if (tasks <= static_cast<double>(columns))
            if (auto problem = onSomeGrid(detail::inNanoseconds(units, perTask), columns, isLast))
                problems.push_back(std::move(*problem));
    }
    if (!problems.empty() && problems.front().unitsPerTask == 1
        && detail::columnCount(problems.front(), listLength(problems.front())) > kFewColumns)
        if (auto grouped = onSomeGrid(detail::inNanoseconds(units, 2), mostColumns, false))
            problems.insert(problems.begin(), std::move(*grouped));
    return problems;
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
                m_answer.isCutShort = true;
                length += std::max<std::int64_t>((known - length) / 2, 1);
            }
        }
        m_answer.isCutShort = m_answer.isCutShort || (found.bound < known && secondsLeft() <= 0);
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

/// One set's orders, the best of them so far, and what is proven of all.
class Comparison {
public:
    Comparison(const JobSet &set, const JobRules &rules, SimulationWorkspace &workspace, std::stop_token stop)
        : m_set(set)
        , m_workspace(workspace)
        , m_stop(std::move(stop))
        , m_units(detail::shardUnits(set, rules, true))
        , m_answer { .rules = rules, .isLrtf = true, .hasTransfers = m_units.hasTransfers }
    {
        m_answer.rules.scheduler = JobScheduler::ShardedLrtf;
        m_answer.rules.order.clear();
        m_answer.rules.numbers.clear();
    }

    Expected<ShardMilpAnswer> run(const ShardMilpLimits &limits)
    {
        const auto lrtf = runJobs(m_set, m_answer.rules, m_workspace, m_stop);
        if (!lrtf)
            return std::unexpected(lrtf.error());
        m_shortest = makespanOf(*lrtf);
        m_answer.lrtf = toSeconds(m_shortest).value;
        m_bound = detail::lowerBound(detail::shardUnits(m_set, m_answer.rules, false));
        if (!m_units.jobs.empty() && m_shortest > m_bound) {
            Search search(limits, m_stop, m_answer);
            const std::vector<ShardProblem> problems = problemsOf(m_units, limits.columns);
            m_answer.isTooLarge = problems.empty();
            for (const ShardProblem &problem : problems)
                if (m_shortest > m_bound)
                    if (const auto tried = consider(problem, search); !tried)
                        return std::unexpected(tried.error());
        }
        m_answer.makespan = toSeconds(m_shortest).value;
        m_answer.bound = std::min(std::max(jobBounds(m_set).makespan(), toSeconds(m_bound).value), m_answer.makespan);
        m_answer.isProven = m_shortest <= m_bound;
        return std::move(m_answer);
    }

private:
    Expected<void> consider(const ShardProblem &problem, Search &search)
    {
        m_answer.grid = toSeconds(problem.grid).value;
        m_answer.unitsPerTask = problem.unitsPerTask;
        m_answer.isRounded = problem.isRounded;
        const bool isExact = !problem.isRounded && problem.unitsPerTask == 1 && !m_units.hasTransfers;
        ShardSchedule best = detail::listSchedule(problem);
        // What is no shorter than the best run helps nobody; a schedule of rounded times comes out a little shorter.
        const std::int64_t run = (m_shortest + problem.grid - 1) / problem.grid + (problem.isRounded ? 2 : 0);
        const std::int64_t known = std::min(best.length, run);
        auto found = search.run(problem, known);
        if (!found)
            return std::unexpected(found.error());
        if (found->schedule)
            best = std::move(*found->schedule);
        if (isExact)
            m_bound = std::max(m_bound, found->bound * problem.grid);
        return follow(detail::listsOf(m_units, problem, best));
    }

    Expected<void> follow(detail::ShardLists lists)
    {
        JobRules rules = m_answer.rules;
        rules.scheduler = JobScheduler::ShardMilp;
        rules.order = std::move(lists.order);
        rules.numbers = std::move(lists.numbers);
        const auto run = runJobs(m_set, rules, m_workspace, m_stop);
        if (!run && run.error().code == ErrorCode::Cancelled)
            return std::unexpected(run.error());
        if (run && makespanOf(*run) < m_shortest) {
            m_shortest = makespanOf(*run);
            m_answer.rules = std::move(rules);
            m_answer.isLrtf = false;
        }
        return {};
    }

    const JobSet &m_set;
    SimulationWorkspace &m_workspace;
    std::stop_token m_stop;
    detail::ShardUnits m_units;
    ShardMilpAnswer m_answer;
    Nanoseconds m_shortest = 0, m_bound = 0;
};

} // namespace

Expected<ShardMilpAnswer> shardMilp(const JobSet &set, const JobRules &rules, const ShardMilpLimits &limits,
    SimulationWorkspace &workspace, std::stop_token stop)
{
    JobSet dealt = set;
    if (std::ranges::any_of(set.jobs, [](const JobSpec &job) { return job.node < 0; }) && !set.nodes.empty())
        dealJobs(dealt);
    return Comparison(dealt, rules, workspace, std::move(stop)).run(limits);
}

} // namespace trainyard
