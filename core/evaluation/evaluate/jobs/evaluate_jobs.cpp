// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/jobs/evaluate_jobs.h"

#include "core/base/words.h"
#include "core/evaluation/evaluate/jobs/job_fill.h"
#include "core/evaluation/evaluate/jobs/job_summary.h"
#include "core/evaluation/evaluate/metrics/confidence.h"
#include "core/evaluation/evaluate/metrics/metrics.h"
#include "core/evaluation/evaluate/problems/doubt_problems.h"
#include "core/evaluation/evaluate/problems/idle_release.h"
#include "core/evaluation/evaluate/problems/job_problems.h"
#include "core/evaluation/evaluate/workspace_state.h"

#include <algorithm>
#include <chrono>
#include <set>

namespace trainyard {

namespace {

using Clock = std::chrono::steady_clock;

ExpectedAll<JobOutcome> outcomeOf(
    JobWorkloads &jobs, Depth depth, const RunContext &context, SimulationWorkspace &workspace)
{
    switch (jobs.plan->jobScheduler) {
    case JobScheduler::ShardedLrtf:
    case JobScheduler::Fifo:
    case JobScheduler::Random:
    case JobScheduler::ShardMilp:
        return sharedOutcome(jobs, depth, context, workspace);
    case JobScheduler::ModelParallel:
    case JobScheduler::TaskParallel:
    case JobScheduler::Pipeline:
    case JobScheduler::ZeroOffload:
        return gangOutcome(jobs, depth, context, workspace);
    case JobScheduler::Milp:
    case JobScheduler::List: // schedulerProblem()
        break;
    }
    return std::unexpected(Errors { { ErrorCode::Internal, "job_scheduler", "nobody runs the jobs", {} } });
}

/// Of the fullest node of each pool.
std::vector<HostMemory> hostsOf(const JobMetrics &metrics)
{
    std::vector<HostMemory> hosts;
    for (const HostUse &use : metrics.hosts) {
        const HostMemory here { use.datacenter, use.pool, double(use.peak), 0, use.capacity };
        if (hosts.empty() || hosts.back().datacenter != use.datacenter || hosts.back().pool != use.pool)
            hosts.push_back(here);
        else if (here.total() > hosts.back().total())
            hosts.back() = here;
    }
    return hosts;
}

/// A plan can run where one of its jobs can; the others are problems of their own.
Feasibility feasibilityOf(const JobWorkloads &jobs)
{
    Feasibility feasibility;
    const auto runs = [](const JobWorkload &job) { return !job.job.paused && job.why.empty(); };
    if (std::ranges::any_of(jobs.jobs, runs))
        return feasibility;
    const auto isCut = [](const JobWorkload &job) { return !job.job.paused && !job.shards.empty(); };
    if (std::ranges::all_of(jobs.jobs, [](const JobWorkload &job) { return job.job.paused; }))
        feasibility.isPlaced = false;
    else if (!isByShards(jobs.plan->jobScheduler))
        (jobs.plan->jobScheduler == JobScheduler::ZeroOffload ? feasibility.fitsHosts : feasibility.fitsGpus) = false;
    else if (std::ranges::any_of(jobs.jobs, isCut))
        feasibility.fitsHosts = false;
    else
        feasibility.fitsGpus = false;
    return feasibility;
}

void addJobConfidence(Evaluation &evaluation, const JobWorkloads &jobs, const Catalogue &catalogue)
{
    addConfidence(evaluation.metrics, Workload(*jobs.cluster, evaluation.layout), catalogue);
    const auto runs = [](const JobWorkload &job) { return !job.job.paused && job.why.empty(); };
    const auto running = std::ranges::count_if(jobs.jobs, runs);
    const auto measured =
        std::ranges::count_if(jobs.jobs, [&](const JobWorkload &job) { return runs(job) && job.isMeasured; });
    if (measured == 0)
        return;
    Confidence &confidence = evaluation.metrics.confidence;
    if (measured == running) // what is known of kernels has no part in it
        confidence.label = toString(ConfidenceLabel::SameFamily);
    confidence.note = (measured == running ? "the times of units are taken as the plan gives them"
                                           : "the times of units of " + counted(measured, "job")
                                  + " are taken as the plan gives them")
        + (confidence.note.empty() ? "" : "; " + confidence.note);
}

/// Of the plan's sources, and of every model once, unless the plan gives the times of its units.
std::vector<Problem> jobDoubts(const JobWorkloads &jobs, const Plan &plan)
{
    const Doubts ofSources = doubtsOfSources(plan);
    std::vector<Problem> problems = doubtProblems(ofSources, "jobs");
    if (auto sources = sourcesProblem(ofSources, plan))
        problems.push_back(std::move(*sources));
    std::set<std::string> told;
    for (const JobWorkload &one : jobs.jobs)
        if (!one.isMeasured && told.insert(one.job.model).second)
            std::ranges::move(doubtProblems(one.model.doubts, "jobs"), std::back_inserter(problems));
    return problems;
}

/// The doubts of the plan and of every model that they come from.
Doubts allDoubts(const JobWorkloads &jobs, const Plan &plan)
{
    Doubts all = doubtsOfSources(plan);
    for (const JobWorkload &one : jobs.jobs)
        for (const Doubt &doubt : one.isMeasured ? Doubts {} : one.model.doubts)
            if (std::ranges::find(all, doubt) == all.end())
                all.push_back(doubt);
    return all;
}

const ModelSpec &modelShown(const JobWorkloads &jobs)
{
    const auto runs = std::ranges::find_if(jobs.jobs, [](const JobWorkload &job) { return job.specIndex >= 0; });
    return (runs == jobs.jobs.end() ? jobs.jobs.front() : *runs).model;
}

} // namespace

ExpectedAll<Evaluation> evaluateJobs(const PlanPtr &plan, Depth depth, const RunContext &context)
{
    Evaluation evaluation;
    evaluation.plan = plan;
    evaluation.metrics.gpusTotal = evaluation.layout.gpusTotal = plan->cluster.gpus();
    auto jobs = resolveJobs(plan, context.catalogue);
    if (!jobs)
        return std::unexpected(std::move(jobs.error()));
    evaluation.model = modelShown(*jobs);
    evaluation.model.doubts = allDoubts(*jobs, *plan);
    if (auto problem = schedulerProblem(*plan)) {
        evaluation.feasibility.isModelled = false;
        evaluation.problems.push_back(std::move(*problem));
        return evaluation;
    }
    std::vector<Problem> doubts = jobDoubts(*jobs, *plan);
    if (std::ranges::any_of(doubts, [](const Problem &p) { return p.severity == Severity::Blocking; })) {
        evaluation.feasibility.isModelled = false;
        evaluation.problems = std::move(doubts);
        return evaluation;
    }
    const auto started = Clock::now();
    auto outcome = outcomeOf(*jobs, depth, context, context.workspace.state().simulation);
    if (!outcome)
        return std::unexpected(std::move(outcome.error()));
    Metrics &metrics = evaluation.metrics;
    metrics.simulateMs = std::chrono::duration<double, std::milli>(Clock::now() - started).count();
    const bool keepsSpans = depth >= Depth::Spans;
    evaluation.layout = jobLayout(*jobs, *outcome);
    metrics.gpusUsed = evaluation.layout.gpusUsed;
    metrics.gpusTotal = evaluation.layout.gpusTotal;
    metrics.jobs = jobMetrics(*jobs, *outcome, keepsSpans);
    metrics.spans = outcome->run.timeline.spanCount();
    context.workspace.state().taken.sum +=
        TasksTaken::kOfPlacement + TasksTaken::kOfEvent * std::int64_t(metrics.spans);
    evaluation.feasibility = feasibilityOf(*jobs);
    if (std::ranges::any_of(outcome->problems, [](const Problem &p) { return p.severity == Severity::Blocking; })) {
        evaluation.feasibility.isModelled = false; // what decides is not installed
        metrics.jobs->makespan.reset();
    }
    if (evaluation.feasibility.all())
        addMemoryMetrics(metrics, std::move(outcome->memory), hostsOf(*metrics.jobs));
    if (!outcome->computeShare.empty())
        metrics.computeShare = { std::move(outcome->computeShare) };
    evaluation.timeline = std::move(outcome->run.timeline);
    evaluation.memoryCurves = std::move(outcome->memoryCurves);
    if (depth >= Depth::Score) {
        addJobConfidence(evaluation, *jobs, context.catalogue);
        evaluation.problems = findJobProblems(evaluation, *jobs, *outcome);
        addIdleRelease(evaluation.problems, *plan, jobs->cluster->model.isMoe(), context.catalogue);
        std::ranges::move(doubts, std::back_inserter(evaluation.problems));
        if (auto filled = addJobFill(evaluation, *jobs->cluster, context); !filled)
            return std::unexpected(std::move(filled.error()));
    }
    if (!keepsSpans)
        evaluation.timeline = {};
    return evaluation;
}

} // namespace trainyard
