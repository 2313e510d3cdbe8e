// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/jobs/run_jobs.h"

#include "core/base/number_text.h"
#include "core/systems/jobs/shard_dispatcher.h"

#include <algorithm>

namespace trainyard {

namespace {

constexpr double kMostOfARun = 1e8; // some ten gigabytes of spans

double unitsOf(const JobSet &set)
{
    double units = 0;
    for (const JobSpec &job : set.jobs)
        units +=
            static_cast<double>(job.units.size()) * static_cast<double>(std::max<std::int64_t>(0, job.minibatches));
    return units;
}

Expected<TaskGraph> tracks(std::size_t gpus)
{
    ClassTable table;
    table.clear();
    GraphBuilder builder(std::move(table));
    for (int gpu = 0; gpu < static_cast<int>(gpus); ++gpu)
        for (const Stream stream : { Stream::Compute, Stream::Load, Stream::Store })
            builder.resource({ .stream = stream, .stage = gpu });
    return std::move(builder).finish();
}

} // namespace

JobRules rulesOf(JobScheduler scheduler, const JobOptions &options)
{
    JobRules rules;
    rules.scheduler = scheduler;
    rules.doubleBuffer = options.doubleBuffer;
    rules.lookAhead = options.lookAhead;
    rules.remaining = options.remaining;
    rules.spill = options.spill;
    rules.seed = options.seed;
    return rules;
}

double longestRun(const JobSet &set)
{
    double toGpu = 0, toHost = 0; // seconds a byte
    for (const JobRoute &route : set.routes) {
        toGpu = route.toGpu > 0 ? std::max(toGpu, 1 / route.toGpu) : toGpu;
        toHost = route.toHost > 0 ? std::max(toHost, 1 / route.toHost) : toHost;
    }
    double seconds = 0, arrival = 0;
    for (const JobSpec &job : set.jobs) {
        double minibatch = 0;
        for (std::size_t u = 0; u < job.units.size(); ++u) {
            double most = 0;
            for (const std::vector<double> &kind : job.seconds)
                most = u < kind.size() ? std::max(most, kind[u]) : most;
            const JobUnit &unit = job.units[u];
            minibatch += most
                + job.minibatchesPerUnit
                    * ((unit.weights + unit.input) * toGpu + (unit.writeBack + unit.output) * toHost);
        }
        seconds += minibatch * static_cast<double>(std::max<std::int64_t>(0, job.minibatches));
        arrival = std::max(arrival, job.arrival);
    }
    return arrival + seconds;
}

Expected<JobRun> runJobs(const JobSet &set, const JobRules &rules, SimulationWorkspace &workspace, std::stop_token stop)
{
    if (std::ranges::any_of(set.jobs, [](const JobSpec &job) { return job.node < 0; }) && !set.nodes.empty()) {
        JobSet dealt = set;
        dealJobs(dealt);
        return runJobs(dealt, rules, workspace, std::move(stop));
    }
    if (const double seconds = longestRun(set); !(seconds * 1e9 < static_cast<double>(kLongestTime)))
        return std::unexpected(Error { ErrorCode::OutOfRange, "jobs",
            "all of them may take " + wholeText(seconds / 86400 / 365) + " years", "31 years at most" });
    if (const double units = unitsOf(set); units > kMostOfARun)
        return std::unexpected(Error { ErrorCode::OutOfRange, "jobs", wholeText(units) + " units of work in one run",
            wholeText(kMostOfARun) + " at most" });
    Expected<TaskGraph> graph = tracks(set.gpus.size());
    if (!graph)
        return std::unexpected(graph.error());
    ShardDispatcher dispatcher(set, rules, graph->table);
    JobRun run;
    if (const auto ran = simulateInto(run.timeline, *graph, workspace, dispatcher, std::move(stop)); !ran)
        return std::unexpected(ran.error());
    dispatcher.tell(run);
    return run;
}

} // namespace trainyard
