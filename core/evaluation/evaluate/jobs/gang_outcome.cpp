// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/jobs/gang_plans.h"
#include "core/evaluation/evaluate/jobs/gang_run.h"
#include "core/evaluation/evaluate/jobs/job_outcome.h"
#include "core/evaluation/evaluate/jobs/unit_memory.h"

#include <algorithm>
#include <set>

namespace trainyard {

namespace {

/// Which ways were chosen, for how many jobs: so many are told.
constexpr std::size_t kMostToldWays = 4;

std::string keyOf(const Plan &plan, std::size_t job)
{
    return job < plan.jobs.size() ? "jobs[" + std::to_string(job) + "]" : std::string("job_grid");
}

double nodesOf(const JobWorkloads &jobs, const GpuList &gpus)
{
    std::set<int> nodes;
    for (const int gpu : gpus)
        nodes.insert(jobs.set.gpus[std::size_t(gpu)].node);
    return double(nodes.size());
}

void addWays(JobOutcome &outcome, const JobWorkloads &jobs, const std::vector<GangFormPtr> &forms)
{
    struct Way {
        std::size_t first = 0, more = 0;
    };
    std::vector<std::pair<std::string, Way>> ways;
    for (std::size_t i = 0; i < forms.size(); ++i) {
        if (!forms[i])
            continue;
        const auto known = std::ranges::find(ways, forms[i]->name, &std::pair<std::string, Way>::first);
        if (known == ways.end())
            ways.push_back({ forms[i]->name, { i, 0 } });
        else
            ++known->second.more;
    }
    for (std::size_t w = 0; w < std::min(ways.size(), kMostToldWays); ++w) {
        const auto &[name, way] = ways[w];
        std::string who = jobs.jobs[way.first].job.name;
        if (way.more > 0)
            who += " and " + std::to_string(way.more) + (way.more == 1 ? " other job run" : " other jobs run");
        else
            who += " runs";
        outcome.problems.push_back({ Severity::Note, who + " fastest so, of what was tried and fits: " + name,
            keyOf(*jobs.plan, way.first), {} });
    }
}

/// What measured units are taken for, and where not.
void addMeasured(JobOutcome &outcome, const JobWorkloads &jobs, const std::vector<GangFormPtr> &forms)
{
    const auto first = [&](bool isTaken) {
        for (std::size_t i = 0; i < forms.size(); ++i)
            if (forms[i] && !jobs.jobs[i].job.unitMs.empty() && forms[i]->isMeasured == isTaken)
                return i;
        return forms.size();
    };
    if (const std::size_t job = first(false); job < forms.size())
        outcome.problems.push_back({ Severity::Warning,
            "The measured times of " + jobs.jobs[job].job.name
                + " are not used: nothing was measured of states in host memory",
            keyOf(*jobs.plan, job) + ".unit_ms", {} });
    if (const std::size_t job = first(true); job < forms.size())
        outcome.problems.push_back({ Severity::Note,
            "The measured times of " + jobs.jobs[job].job.name
                + " are taken as they are: if its backward units compute the forward again, as shards do, so do its "
                  "stages here",
            keyOf(*jobs.plan, job) + ".unit_ms", {} });
}

/// Jobs that could run side by side, were it not for the hosts that one of them fills.
void addHostsOfTheirOwn(JobOutcome &outcome, const JobWorkloads &jobs, const std::vector<GangJob> &gangs)
{
    std::vector<int> keeper(jobs.gpus.size(), -1); // [GPU that it may not use itself]: first job that keeps it
    std::set<const GpuList *> known;
    for (const GangJob &gang : gangs) {
        if (!gang.reserved || gang.forms.front()->hostBytes <= 0 || !known.insert(gang.reserved.get()).second)
            continue;
        const GpuList own = allowedGpus(jobs, jobs.jobs[std::size_t(gang.job)].job);
        for (const int gpu : *gang.reserved)
            if (int &first = keeper[std::size_t(gpu)]; first < 0 && !std::ranges::binary_search(own, gpu))
                first = gang.job;
    }
    if (std::ranges::all_of(keeper, [](int first) { return first < 0; }))
        return;
    for (const GangJob &gang : gangs)
        for (const int gpu : gang.forms.front()->gpus) {
            const int first = keeper[std::size_t(gpu)];
            if (first < 0 || first == gang.job)
                continue;
            const auto [one, other] = std::minmax(first, gang.job);
            outcome.problems.push_back({ Severity::Note,
                "A job that keeps states in host memory has its nodes to itself: "
                    + jobs.jobs[std::size_t(one)].job.name + " and " + jobs.jobs[std::size_t(other)].job.name
                    + " take turns, though they may use different GPUs",
                keyOf(*jobs.plan, std::size_t(first)), {} });
            return;
        }
}

void addMemory(JobOutcome &outcome, const JobWorkloads &jobs, GangRun &ran, bool keepsCurves)
{
    outcome.memory = std::move(ran.memory);
    for (std::size_t gpu = 0; gpu < outcome.memory.size(); ++gpu)
        if (outcome.memory[gpu].capacity == 0)
            outcome.memory[gpu] = memoryOfUnits(jobs, int(gpu), 0);
    if (!keepsCurves)
        return;
    outcome.memoryCurves = std::move(ran.memoryCurves);
    for (std::vector<MemoryStep> &curve : outcome.memoryCurves) {
        if (curve.empty() || curve.front().time > 0)
            curve.insert(curve.begin(), { 0, 0 });
        if (curve.back().time < ran.makespan)
            curve.push_back({ ran.makespan, curve.back().bytes });
    }
}

} // namespace

ExpectedAll<JobOutcome> gangOutcome(
    JobWorkloads &jobs, Depth depth, const RunContext &context, SimulationWorkspace &workspace)
{
    const auto gangs = gangJobs(jobs, context);
    if (!gangs)
        return std::unexpected(gangs.error());
    const bool keepsSpans = depth >= Depth::Spans || (depth == Depth::Score && jobs.plan->bubbleFill.enabled);
    auto ran = runGangs(jobs, *gangs, keepsSpans, context, workspace);
    if (!ran)
        return std::unexpected(std::move(ran.error()));
    JobOutcome outcome;
    outcome.isTimed = !gangs->empty();
    outcome.shares.resize(jobs.jobs.size());
    for (std::size_t i = 0; i < jobs.jobs.size(); ++i) {
        JobShare &share = outcome.shares[i];
        share.technique = techniqueOf(jobs.jobs[i].job, jobs.plan->jobScheduler);
        const GangFormPtr &form = ran->forms[i];
        jobs.jobs[i].isMeasured = form && form->isMeasured;
        if (!form)
            continue;
        share.gpus = form->width;
        share.shards = form->plan->parallelism.pipeline;
        share.alone = toSeconds(ran->run.jobs[i].end - ran->run.jobs[i].start).value;
        share.gpuSeconds = share.alone * form->width;
        share.hostBytes = double(form->hostBytes) * nodesOf(jobs, ran->run.jobs[i].gpus);
    }
    outcome.bounds = { ran->boundShared, ran->boundLongest };
    outcome.computing = ran->gpuUtilization * toSeconds(ran->makespan).value * double(jobs.gpus.size());
    outcome.minibatchesPerSpan = ran->minibatchesPerSpan;
    outcome.computeShare = std::move(ran->computeShare);
    outcome.run = std::move(ran->run);
    addWays(outcome, jobs, ran->forms);
    addMeasured(outcome, jobs, ran->forms);
    addHostsOfTheirOwn(outcome, jobs, *gangs);
    addMemory(outcome, jobs, *ran, depth >= Depth::Spans);
    return outcome;
}

} // namespace trainyard
