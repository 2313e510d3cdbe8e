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
    /// of one that cannot run, one sentence
    std::string why;
    /// seconds from the start of the plan
    Metric start, end;
    Metric deadline;
    /// at once, at most
    int gpus = 0;
    /// numbers of GPUs, ascending
    std::vector<int> ranOn;
    JobTechnique technique = JobTechnique::ShardParallel;
    /// K; 1 where the model is not cut
    int shards = 1;
    /// seconds of its units without waiting, on the GPUs that they ran on: W
    double work = 0;
    /// (end - arrival) / what it would take alone on the same GPUs
    Metric slowdown;
    /// of GPUs that it computed on, or held
    double gpuSeconds = 0;
    /// between host memory and GPUs
    double bytesLoaded = 0, bytesStored = 0;
    /// of host memory that it takes while it is there, boundaries included
    double hostBytes = 0;
    /// its share of the price, by GPU seconds
    Metric usd;
    /// its units' times come from the plan
    bool isMeasured = false;
};

/// Main memory of one node.
struct HostUse {
    int datacenter = 0, pool = 0, node = 0;
    /// bytes; 0 where nobody states it
    double capacity = 0;
    std::int64_t peak = 0;
    /// what is taken from then on; empty below Depth::Spans
    std::vector<MemoryStep> curve;
};

struct JobMetrics {
    /// seconds until the last job has ended
    Metric makespan;
    /// no schedule is shorter: the larger of the two below
    Metric bound;
    /// all work over all GPUs: sum of W / G (over their speeds where they differ)
    Metric boundShared;
    /// arrival and work of the longest job, on its fastest GPU
    Metric boundLongest;
    /// share of all GPUs' time until then in which they compute
    Metric gpuUtilization;
    Metric usd;
    /// bytes of the fullest host
    std::int64_t hostPeak = 0;
    /// a span stands for so many, where all of them would be too many spans
    int minibatchesPerSpan = 1;
    std::vector<JobResult> perJob;
    std::vector<HostUse> hosts;
};

} // namespace trainyard
