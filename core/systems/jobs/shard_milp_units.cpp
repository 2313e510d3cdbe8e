// SPDX-License-Identifier: GPL-3.0-or-later
// The set as chains of tasks.
#include "core/base/units.h"
#include "core/systems/jobs/serving.h"
#include "core/systems/jobs/shard_milp_internal.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace trainyard::detail {

namespace {

double transferSeconds(double bytes, double rate)
{
    return bytes > 0 && rate > 0 ? bytes / rate : 0;
}

/// Of the units of a mini-batch on that GPU, which may run the job.
std::vector<Nanoseconds> unitTimes(
    const JobSet &set, const JobSpec &job, std::size_t gpu, const JobRules &rules, bool withTransfers)
{
    const auto kind = static_cast<std::size_t>(set.gpus[gpu].kind), node = static_cast<std::size_t>(job.node);
    const int index = withTransfers && node < set.routeOf.size() ? set.routeOf[node][gpu] : -1;
    const JobRoute route = index >= 0 ? set.routes[static_cast<std::size_t>(index)] : JobRoute {};
    std::vector<Nanoseconds> times;
    for (std::size_t i = 0; i < job.units.size(); ++i) {
        const JobUnit &unit = job.units[i];
        const bool stays = job.units[(i + 1) % job.units.size()].shard == unit.shard; // and with it its weights
        const double lambda =
            transferSeconds(job.minibatchesPerUnit * ((stays ? 0 : unit.weights) + unit.input), route.toGpu);
        const double upsilon =
            transferSeconds(job.minibatchesPerUnit * ((stays ? 0 : unit.writeBack) + unit.output), route.toHost);
        times.push_back(toNanoseconds(
            Seconds { unitSeconds(job.seconds[kind][i], lambda, upsilon, rules.doubleBuffer, set.isFullDuplex) }));
    }
    return times;
}

bool moves(const JobSpec &job)
{
    return std::ranges::any_of(job.units, [](const JobUnit &unit) {
        return unit.weights > 0 || unit.writeBack > 0 || unit.input > 0 || unit.output > 0;
    });
}

} // namespace

std::int64_t ShardUnits::Job::perMinibatch() const
{
    for (const auto &units : times)
        if (!units.empty())
            return static_cast<std::int64_t>(units.size());
    return 0;
}

std::int64_t ShardTask::least() const
{
    std::int64_t least = kCannot;
    for (const std::int64_t each : time)
        if (each != kCannot && (least == kCannot || each < least))
            least = each;
    return least;
}

std::size_t ShardProblem::taskCount() const
{
    std::size_t count = 0;
    for (const Job &job : jobs)
        count += job.tasks.size();
    return count;
}

ShardUnits shardUnits(const JobSet &set, const JobRules &rules, bool withTransfers)
{
    ShardUnits units;
    std::vector<std::uint32_t> running;
    for (std::uint32_t i = 0; i < set.jobs.size(); ++i)
        if (neverRuns(set, set.jobs[i]).empty())
            running.push_back(i);
    std::map<std::vector<std::vector<Nanoseconds>>, int> classes;
    std::vector<std::vector<std::vector<Nanoseconds>>> times; // [class][job][unit]
    std::vector<std::vector<std::uint8_t>> served;
    for (const std::uint32_t job : running)
        served.push_back(servedBy(set, set.jobs[job], set.jobs[job].node));
    for (std::size_t gpu = 0; gpu < set.gpus.size(); ++gpu) {
        std::vector<std::vector<Nanoseconds>> here;
        for (std::size_t i = 0; i < running.size(); ++i)
            here.push_back(served[i][gpu] != 0 ? unitTimes(set, set.jobs[running[i]], gpu, rules, withTransfers)
                                               : std::vector<Nanoseconds> {});
        const auto [found, isNew] = classes.try_emplace(here, static_cast<int>(classes.size()));
        if (isNew)
            times.push_back(std::move(here)), units.capacity.push_back(0);
        units.classOf.push_back(found->second);
        ++units.capacity[static_cast<std::size_t>(found->second)];
    }
    for (std::size_t i = 0; i < running.size(); ++i) {
        const JobSpec &spec = set.jobs[running[i]];
        ShardUnits::Job job { running[i], std::max<Nanoseconds>(0, toNanoseconds(Seconds { spec.arrival })), {},
            spec.minibatches };
        for (const auto &here : times)
            job.times.push_back(here[i]);
        units.hasTransfers = units.hasTransfers || (withTransfers && moves(spec));
        if (job.count() > 0)
            units.jobs.push_back(std::move(job));
    }
    return units;
}

ShardProblem inNanoseconds(const ShardUnits &units, std::int64_t unitsPerTask)
{
    ShardProblem problem { .capacity = units.capacity };
    for (const ShardUnits::Job &job : units.jobs) {
        ShardProblem::Job chain { .arrival = job.arrival };
        const std::int64_t each = job.perMinibatch();
        for (std::int64_t first = 0; first < job.count();) {
            const std::int64_t whole = (unitsPerTask + each - 1) / each * each; // mini-batches
            const std::int64_t count = unitsPerTask == 1 ? 1 : std::min(whole, job.count() - first);
            ShardTask task { .units = count };
            for (const auto &times : job.times) {
                std::int64_t sum = times.empty() ? kCannot : 0;
                if (count == 1 && !times.empty())
                    sum = times[static_cast<std::size_t>(first % each)];
                else if (!times.empty())
                    sum = std::accumulate(times.begin(), times.end(), std::int64_t { 0 }) * (count / each);
                task.time.push_back(sum);
            }
            problem.unitsPerTask = std::max(problem.unitsPerTask, count);
            chain.tasks.push_back(std::move(task));
            first += count;
        }
        problem.jobs.push_back(std::move(chain));
    }
    return problem;
}

std::int64_t commonStep(const ShardProblem &problem)
{
    std::int64_t step = 0;
    for (const ShardProblem::Job &job : problem.jobs) {
        step = std::gcd(step, job.arrival);
        for (const ShardTask &task : job.tasks)
            for (const std::int64_t time : task.time)
                step = std::gcd(step, std::max<std::int64_t>(time, 0));
    }
    return std::max<std::int64_t>(step, 1);
}

ShardProblem onGrid(const ShardProblem &problem, std::int64_t grid)
{
    ShardProblem rounded = problem;
    rounded.grid = grid;
    const auto up = [&](std::int64_t time) {
        rounded.isRounded = rounded.isRounded || time % grid != 0;
        return (time + grid - 1) / grid;
    };
    for (ShardProblem::Job &job : rounded.jobs) {
        job.arrival = up(job.arrival);
        std::vector<std::int64_t> before(problem.capacity.size(), 0);
        for (ShardTask &task : job.tasks)
            for (std::size_t i = 0; i < task.time.size(); ++i)
                if (task.time[i] != kCannot) {
                    const std::int64_t end = before[i] + task.time[i];
                    task.time[i] = up(end) - up(before[i]);
                    before[i] = end;
                }
    }
    return rounded;
}

} // namespace trainyard::detail
