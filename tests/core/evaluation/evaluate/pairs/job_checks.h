#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What is conserved by the evaluation of a plan with jobs: seconds and bytes of every job are those of its spans, GPUs
// and hosts hold no more than they have, nothing crosses the WAN. The schedule itself, unit by unit, is the business of
// tests/core/systems/jobs/schedule_checker.h, which is asked too.

#include "core/facts/plan/job_schedulers.h"
#include "core/iteration/job_shards/job_workloads.h"
#include "tests/core/evaluation/evaluate/pairs/conservation.h"
#include "tests/core/systems/jobs/schedule_checker.h"

namespace trainyard::test {

/// Of the same plan, run without the evaluation around it.
inline void checkSchedule(Findings &findings, unsigned seed, const PlanPtr &plan, SimulationWorkspace &workspace)
{
    if (plan->jobScheduler > JobScheduler::Random)
        return;
    const auto jobs = resolveJobs(plan, builtinCatalogue());
    if (!jobs)
        return;
    JobRules rules;
    rules.scheduler = plan->jobScheduler;
    rules.doubleBuffer = plan->jobOptions.doubleBuffer;
    rules.lookAhead = plan->jobOptions.lookAhead;
    rules.remaining = plan->jobOptions.remaining;
    rules.seed = plan->jobOptions.seed;
    rules.spill = plan->jobOptions.spill;
    const auto run = runJobs(jobs->set, rules, workspace);
    findings.expect(run.has_value(), seed, "jobs run: " + (run ? std::string() : run.error().what));
    if (!run)
        return;
    const std::string fault = ScheduleChecker(jobs->set, rules, *run).fault();
    findings.expect(fault.empty(), seed, "a schedule has no fault: " + fault);
}

inline void checkJobSpans(Findings &findings, unsigned seed, const Evaluation &e)
{
    const Timeline &t = e.timeline;
    const JobMetrics &m = *e.metrics.jobs;
    std::vector<double> work(m.perJob.size()), loaded(work), stored(work);
    for (const Track &track : t.tracks) {
        if (track.stream == Stream::Prefill)
            continue;
        Nanoseconds free = 0;
        for (std::uint32_t span = track.first; span < track.last; ++span) {
            findings.expect(
                t.start[span] >= free && t.end[span] >= t.start[span], seed, "spans of a row do not overlap");
            free = t.end[span];
            const std::uint32_t job = t.classOf(span).job;
            findings.expect(job < work.size(), seed, "a span belongs to a job");
            if (job >= work.size())
                continue;
            const double seconds = toSeconds(t.end[span] - t.start[span]).value;
            if (track.stream == Stream::Compute)
                work[job] += seconds;
            else
                (track.stream == Stream::Load ? loaded : stored)[job] += t.bytesMoved(span);
            if (track.stream == Stream::Compute)
                findings.expect(m.perJob[job].end && toSeconds(t.end[span]).value <= *m.perJob[job].end + 1e-6
                        && toSeconds(t.start[span]).value >= *m.perJob[job].start - 1e-6,
                    seed, "a job computes between its start and its end");
        }
    }
    double all = 0;
    for (std::size_t job = 0; job < work.size(); ++job) {
        const JobResult &result = m.perJob[job];
        all += work[job];
        findings.expect(result.end.has_value() == (result.state == JobState::Runs), seed, "a job that runs ends");
        findings.expect(
            (result.state == JobState::CannotRun) == !result.why.empty(), seed, "a job that cannot run says why");
        if (!isByShards(e.plan->jobScheduler))
            continue;
        findings.expect(isNear(result.work, work[job], 1e-6) && isNear(result.gpuSeconds, work[job], 1e-6), seed,
            "the work of a job is that of its spans: " + differ(result.work, work[job]));
        findings.expect(isNear(result.bytesLoaded, loaded[job], 1e-6) && isNear(result.bytesStored, stored[job], 1e-6),
            seed,
            "a job's bytes are those of its spans: " + differ(result.bytesLoaded, loaded[job]) + ", "
                + differ(result.bytesStored, stored[job]));
    }
    if (isByShards(e.plan->jobScheduler) && m.makespan)
        findings.expect(isNear(all / double(e.metrics.gpusTotal) / *m.makespan, *m.gpuUtilization, 1e-6), seed,
            "the use of GPUs is what their spans say: "
                + differ(all / double(e.metrics.gpusTotal) / *m.makespan, *m.gpuUtilization));
}

inline void checkJobs(Findings &findings, unsigned seed, const Evaluation &e)
{
    const JobMetrics &m = *e.metrics.jobs;
    for (const Metric *value : { &m.makespan, &m.bound, &m.gpuUtilization, &m.usd })
        findings.expect(!*value || (std::isfinite(**value) && **value >= 0), seed, "numbers are finite, none negative");
    findings.expect(e.metrics.wanBytesPerIteration == 0 && e.metrics.wanLinks.empty(), seed, "no job uses the WAN");
    if (!m.makespan)
        return;
    double last = 0;
    for (const JobResult &job : m.perJob)
        last = std::max(last, job.end.value_or(0));
    findings.expect(isNear(last, *m.makespan), seed, "all end with the last: " + differ(last, *m.makespan));
    findings.expect(
        !m.bound || *m.bound <= *m.makespan * (1 + 1e-6) + 1e-6, seed, "no schedule is shorter than the bound");
    findings.expect(
        isShare(m.gpuUtilization) && isShare(e.metrics.gpuUtilizationWithFill), seed, "GPU utilization is a share");
    findings.expect(!e.metrics.memory || e.metrics.memory->fits, seed, "what runs fits");
    for (const StageMemory &gpu : e.metrics.memory ? e.metrics.memory->perStage : std::vector<StageMemory> {})
        findings.expect(gpu.device <= gpu.capacity, seed, "no GPU holds more than it has");
    for (const HostUse &host : m.hosts) {
        findings.expect(
            host.capacity == 0 || double(host.peak) <= host.capacity, seed, "no host holds more than it has");
        findings.expect(host.curve.empty() || host.curve.back().bytes == 0, seed, "hosts are empty in the end");
    }
    int used = 0;
    for (const IdleGpus &idle : e.layout.idle)
        used += idle.gpus;
    findings.expect(used + e.metrics.gpusUsed == e.metrics.gpusTotal, seed, "used and idle GPUs are all");
    checkJobSpans(findings, seed, e);
}

} // namespace trainyard::test
