#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan with jobs comes to: when each of them ends, what bounds them all, what they hold and cost. Seconds,
// bytes and dollars; a metric that does not apply is empty. docs/many-models.md.

#include "core/base/metric.h"
#include "core/engine/timeline/work.h"
#include "core/facts/plan/jobs.h"

#include <string>
#include <vector>

namespace trainyard {

enum class JobState : std::uint8_t { Runs, Paused, CannotRun };

struct JobResult { // in the order of allJobs()
    std::string name;
    JobState state = JobState::Runs;
    std::string why; // of one that cannot run, one sentence
    Metric start, end; // seconds from the start of the plan
    Metric deadline;
    int gpus = 0; // at once, at most
    std::vector<int> ranOn; // numbers of GPUs, ascending
    JobTechnique technique = JobTechnique::ShardParallel;
    int shards = 1; // K; 1 where the model is not cut
    double work = 0; // seconds of its units without waiting, on the GPUs that they ran on: W
    Metric slowdown; // (end - arrival) / what it would take alone on the same GPUs
    double gpuSeconds = 0; // of GPUs that it computed on, or held
    double bytesLoaded = 0, bytesStored = 0; // between host memory and GPUs
    double hostBytes = 0; // of host memory that it takes while it is there, boundaries included
    Metric usd; // its share of the price, by GPU seconds
    bool isMeasured = false; // its units' times come from the plan
};

/// Main memory of one node.
struct HostUse {
    int datacenter = 0, pool = 0, node = 0;
    double capacity = 0; // bytes; 0 where nobody states it
    std::int64_t peak = 0;
    std::vector<MemoryStep> curve; // what is taken from then on; empty below Depth::Spans
};

struct JobMetrics {
    Metric makespan; // seconds until the last job has ended
    Metric bound; // no schedule is shorter: the larger of the two below
    Metric boundShared; // all work over all GPUs: sum of W / G (over their speeds where they differ)
    Metric boundLongest; // arrival and work of the longest job, on its fastest GPU
    Metric gpuUtilization; // share of all GPUs' time until then in which they compute
    Metric usd;
    std::int64_t hostPeak = 0; // bytes of the fullest host
    int minibatchesPerSpan = 1; // a span stands for so many, where all of them would be too many spans
    std::vector<JobResult> perJob;
    std::vector<HostUse> hosts;
};

} // namespace trainyard
