#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a scheduler made of the jobs of a plan, whichever it is: when they ran where, and what they held. Schedulers by
// shards (sharedOutcome) and those that give whole GPUs to whole jobs come to the same, from which evaluateJobs() makes
// metrics and problems.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/evaluation/evaluate/run.h"
#include "core/iteration/job_shards/job_workloads.h"
#include "core/systems/jobs/run_jobs.h"

namespace trainyard {

struct JobShare { // of one job
    JobTechnique technique = JobTechnique::ShardParallel;
    /// at once, at most
    int gpus = 1;
    int shards = 1;
    /// seconds on the same GPUs, were nothing else there
    double alone = 0;
    /// of GPUs that it computed on, or held
    double gpuSeconds = 0;
    /// of host memory
    double hostBytes = 0;
};

struct JobOutcome {
    /// false: nobody looked that deep, or no job can run; bounds and memory alone
    bool isTimed = false;
    /// its jobs, and those of classes of the timeline: indices into JobWorkloads::jobs
    JobRun run;
    /// [job]
    std::vector<JobShare> shares;
    JobBounds bounds;
    /// seconds of all GPUs together
    double computing = 0;
    int minibatchesPerSpan = 1;
    /// [GPU]: at its fullest, or the most that it may hold
    std::vector<StageMemory> memory;
    /// [GPU]; empty below Depth::Spans
    std::vector<std::vector<MemoryStep>> memoryCurves;
    /// [GPU]: as Metrics has it; empty: spans are nothing but computation
    std::vector<double> computeShare;
    /// of this scheduler alone
    std::vector<Problem> problems;
};

/// Sets JobWorkload::why of jobs that cannot run.
/// Errors: Cancelled, those of runJobs and of a solver.
[[nodiscard]] ExpectedAll<JobOutcome> sharedOutcome(
    JobWorkloads &jobs, Depth depth, const RunContext &context, SimulationWorkspace &workspace);

/// Whole jobs on whole GPUs, timed at any depth. Sets JobWorkload::why likewise, and takes back what was said of
/// shards. Errors: Cancelled; Internal; OutOfRange.
[[nodiscard]] ExpectedAll<JobOutcome> gangOutcome(
    JobWorkloads &jobs, Depth depth, const RunContext &context, SimulationWorkspace &workspace);

} // namespace trainyard
