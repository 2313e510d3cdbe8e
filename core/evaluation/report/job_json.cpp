// SPDX-License-Identifier: GPL-3.0-or-later
// The metrics of jobs as `evaluate --format json` prints them; metrics_schema.cpp describes them.
#include "core/evaluation/report/job_text.h"
#include "core/evaluation/report/json_internal.h"
#include "core/facts/plan/enum_names.h"

namespace trainyard {

namespace {

const char *stateName(JobState state)
{
    switch (state) {
    case JobState::Runs:
        return "runs";
    case JobState::Paused:
        return "paused";
    case JobState::CannotRun:
        return "cannot-run";
    }
    return "";
}

Json jobObject(const JobResult &job)
{
    const bool runs = job.state == JobState::Runs;
    const auto ofShards = [&](double bytes) { return travels(job) ? finite(bytes) : Json(nullptr); };
    const auto ofRuns = [&](Json value) { return runs ? std::move(value) : Json(nullptr); };
    return { { "name", job.name }, { "state", stateName(job.state) },
        { "why", job.why.empty() ? Json(nullptr) : Json(job.why) }, { "start_s", finite(job.start) },
        { "end_s", finite(job.end) }, { "deadline_s", finite(job.deadline) }, { "gpus", ofRuns(job.gpus) },
        { "ran_on", job.ranOn }, { "technique", ofRuns(trainyard::toString(job.technique)) },
        { "shards", ofRuns(job.shards) }, { "work_s", ofRuns(finite(job.work)) }, { "slowdown", finite(job.slowdown) },
        { "gpu_s", ofRuns(finite(job.gpuSeconds)) }, { "loaded_bytes", ofShards(job.bytesLoaded) },
        { "stored_bytes", ofShards(job.bytesStored) }, { "host_bytes", ofRuns(finite(job.hostBytes)) },
        { "usd", finite(job.usd) }, { "measured", job.isMeasured } };
}

Json hostObject(const Cluster &cluster, const HostUse &host)
{
    const Datacenter &datacenter = cluster.datacenters.at(std::size_t(host.datacenter));
    return { { "datacenter", datacenter.id }, { "pool", datacenter.pools.at(std::size_t(host.pool)).id },
        { "node", host.node }, { "peak_bytes", host.peak },
        { "capacity_bytes", host.capacity > 0 ? finite(host.capacity) : Json(nullptr) } };
}

} // namespace

Json jobsObject(const Evaluation &evaluation)
{
    if (!evaluation.metrics.jobs)
        return nullptr;
    const JobMetrics &jobs = *evaluation.metrics.jobs;
    const JobCounts counts = countsOf(jobs);
    Json perJob = Json::array(), hosts = Json::array();
    for (const JobResult &job : jobs.perJob)
        perJob.push_back(jobObject(job));
    for (const HostUse &host : jobs.hosts)
        hosts.push_back(hostObject(evaluation.plan->cluster, host));
    return { { "makespan_s", finite(jobs.makespan) }, { "bound_s", finite(jobs.bound) },
        { "bound_shared_s", finite(jobs.boundShared) }, { "bound_longest_s", finite(jobs.boundLongest) },
        { "gpu_utilization", finite(jobs.gpuUtilization) }, { "host_peak_bytes", jobs.hostPeak },
        { "loaded_bytes", finite(counts.loaded) }, { "stored_bytes", finite(counts.stored) },
        { "usd", finite(jobs.usd) }, { "count", counts.jobs }, { "run", counts.run }, { "late", counts.late },
        { "minibatches_per_span", jobs.minibatchesPerSpan }, { "per_job", perJob }, { "hosts", hosts } };
}

} // namespace trainyard
