// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/jobs/job_summary.h"

#include "core/base/words.h"
#include "core/evaluation/evaluate/problems/job_problems.h"
#include "core/iteration/cost/gpu_price.h"

#include <algorithm>
#include <set>

namespace trainyard {

namespace {

Metric secondsOf(Nanoseconds time)
{
    return time == JobTimes::kNever ? Metric() : Metric(toSeconds(time).value);
}

/// [GPU]: whether a job ran there; where nothing has run yet, whether one may.
std::vector<char> usedGpus(const JobWorkloads &jobs, const JobOutcome &outcome)
{
    std::vector<char> used(jobs.gpus.size());
    for (std::size_t i = 0; i < jobs.jobs.size(); ++i) {
        for (const int gpu : outcome.run.jobs[i].gpus)
            used[std::size_t(gpu)] = 1;
        const JobWorkload &job = jobs.jobs[i];
        if (outcome.isTimed || job.specIndex < 0 || !job.why.empty())
            continue;
        const JobSpec &spec = jobs.set.jobs[std::size_t(job.specIndex)];
        for (std::size_t gpu = 0; gpu < used.size(); ++gpu)
            if (!spec.seconds[std::size_t(jobs.set.gpus[gpu].kind)].empty()
                && (spec.gpus.empty() || std::ranges::binary_search(spec.gpus, int(gpu))))
                used[gpu] = 1;
    }
    return used;
}

double usdPerHour(const JobWorkloads &jobs, double utilization)
{
    double usd = 0;
    for (const StageLocation at : jobs.gpus)
        usd += usdPerGpuHour(*jobs.cluster, at, utilization);
    return usd;
}

JobResult resultOf(const JobWorkload &job, const JobOutcome &outcome, std::size_t index)
{
    const JobTimes &times = outcome.run.jobs[index];
    const JobShare &share = outcome.shares[index];
    JobResult result;
    result.name = job.job.name;
    result.state = job.job.paused ? JobState::Paused : job.why.empty() ? JobState::Runs : JobState::CannotRun;
    result.why = result.state == JobState::CannotRun ? job.why : "";
    result.deadline = job.job.deadlineS;
    result.technique = share.technique;
    result.gpus = share.gpus;
    result.shards = share.shards;
    result.isMeasured = job.isMeasured;
    if (result.state != JobState::Runs) {
        result.gpus = 0;
        return result;
    }
    result.hostBytes = share.hostBytes;
    result.start = secondsOf(times.start);
    result.end = secondsOf(times.end);
    result.ranOn = times.gpus;
    result.work = toSeconds(times.computing).value;
    result.gpuSeconds = share.gpuSeconds;
    result.bytesLoaded = times.loaded;
    result.bytesStored = times.stored;
    if (result.end && share.alone > 0) // the closed form of it is no exact lower bound
        result.slowdown = std::max(1.0, (*result.end - job.job.arrivalS) / share.alone);
    return result;
}

} // namespace

Layout jobLayout(const JobWorkloads &jobs, const JobOutcome &outcome)
{
    Layout layout;
    const std::vector<char> used = usedGpus(jobs, outcome);
    const auto running =
        std::ranges::count_if(jobs.jobs, [](const JobWorkload &job) { return !job.job.paused && job.why.empty(); });
    layout.data = 1;
    layout.gpusTotal = int(jobs.gpus.size());
    PipelineClass &all = layout.classes.emplace_back();
    all.locations = jobs.gpus;
    layout.chunks.assign(jobs.gpus.size(), { StageChunk {} });
    int firstOfPool = 0;
    for (int gpu = 0; gpu < layout.gpusTotal; ++gpu) {
        const StageLocation at = jobs.gpus[std::size_t(gpu)];
        if (gpu > 0 && at != jobs.gpus[std::size_t(gpu) - 1])
            firstOfPool = gpu;
        if (used[std::size_t(gpu)]) {
            layout.runs.push_back({ at.datacenter, at.pool, gpu - firstOfPool, 1, gpu, 0, 1, 0 });
            ++layout.gpusUsed;
            continue;
        }
        const std::string reason = !isByShards(jobs.plan->jobScheduler) && running > 0
            ? (jobs.plan->jobScheduler == JobScheduler::TaskParallel
                    ? "every job takes the fastest GPUs that are free, of those that it fits and may use"
                    : "every job takes the GPUs on which it is fastest, of those that it may use")
            : jobs.leftOut[std::size_t(jobs.set.gpus[std::size_t(gpu)].kind)]
            ? "models are cut for larger GPUs, with which alone they are done sooner"
            : running == 0 ? "no job can run"
            : running <= std::ranges::count(used, char(1))
            ? "only " + counted(running, "job") + " can run, each on one GPU at a time"
            : "no job can run there, or those that could waited for room in host memory or to arrive";
        if (layout.idle.empty() || layout.idle.back().datacenter != at.datacenter || layout.idle.back().pool != at.pool)
            layout.idle.push_back({ at.datacenter, at.pool, 0, reason, false });
        ++layout.idle.back().gpus;
    }
    return layout;
}

JobMetrics jobMetrics(const JobWorkloads &jobs, const JobOutcome &outcome, bool keepsCurves)
{
    JobMetrics metrics;
    metrics.minibatchesPerSpan = outcome.minibatchesPerSpan;
    double gpuSeconds = 0, makespan = 0;
    for (std::size_t i = 0; i < jobs.jobs.size(); ++i) {
        const JobResult &result = metrics.perJob.emplace_back(resultOf(jobs.jobs[i], outcome, i));
        gpuSeconds += result.gpuSeconds;
        makespan = std::max(makespan, result.end.value_or(0));
    }
    if (outcome.bounds.makespan() > 0) {
        metrics.boundShared = outcome.bounds.shared;
        metrics.boundLongest = outcome.bounds.longest;
        metrics.bound = outcome.bounds.makespan();
    }
    for (std::size_t node = 0; node < jobs.nodes.size(); ++node) {
        const JobWorkloads::Node &of = jobs.nodes[node];
        HostUse &use = metrics.hosts.emplace_back(HostUse { of.datacenter, of.pool, of.node, of.memory, 0, {} });
        if (node < outcome.run.hostPeaks.size())
            use.peak = std::int64_t(outcome.run.hostPeaks[node]);
        if (keepsCurves && node < outcome.run.hosts.size())
            use.curve = outcome.run.hosts[node];
        metrics.hostPeak = std::max(metrics.hostPeak, use.peak);
    }
    if (!outcome.isTimed) {
        metrics.makespan = metrics.bound;
        return metrics;
    }
    metrics.makespan = makespan;
    if (makespan > 0) {
        metrics.gpuUtilization = outcome.computing / (double(jobs.gpus.size()) * makespan);
        metrics.usd = usdPerHour(jobs, *metrics.gpuUtilization) * makespan / 3600;
        for (JobResult &result : metrics.perJob)
            if (gpuSeconds > 0 && result.state == JobState::Runs)
                result.usd = *metrics.usd * result.gpuSeconds / gpuSeconds;
    }
    return metrics;
}

} // namespace trainyard
