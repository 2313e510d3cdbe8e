#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Whole jobs on whole GPUs: the answer of the schedulers that do not cut models into shards for all to share (model
// parallel, task parallel, pipeline, ZeRO-3 offloaded). How a job runs is found by run() on plans of one mini-batch,
// few of them, so that time, memory and verdict are the product's own. Pure but for the workspace.

#include "core/evaluation/evaluate/jobs/gang_parts.h"
#include "core/evaluation/evaluate/run.h"

#include <memory>

namespace trainyard {

/// One way to run a job: so many GPUs, which it holds together until it has ended.
struct GangForm {
    JobTechnique technique = JobTechnique::Pipeline;
    /// what was chosen: "GPipe, 4 stages, 8 micro-batches"
    std::string name;
    /// of which it takes `width`, ascending
    GpuList gpus;
    int width = 1;
    /// of one node
    bool isInNode = false;
    /// of one mini-batch, on `width` GPUs
    PlanPtr plan;
    /// it takes what was measured
    bool isMeasured = false;
    Nanoseconds minibatch = 0;
    /// of the time of its GPUs in which they compute
    double busyShare = 1;
    /// [one of `width`]: what of the plan's evaluation it does
    std::vector<GangPlace> places;
    /// [stage] of that evaluation
    std::vector<StageMemory> memory;
    /// of main memory that it takes on each of its nodes
    std::int64_t hostBytes = 0;
};
using GangFormPtr = std::shared_ptr<const GangForm>;

struct GangJob {
    /// index into JobWorkloads::jobs
    int job = 0;
    /// it takes the first of which GPUs are free
    std::vector<GangFormPtr> forms;
    /// that nobody else gets meanwhile; null: those that it runs on
    std::shared_ptr<const GpuList> reserved;
};

/// One for each job that can run, by priority, then in the order of the list; why not, for the others
/// (JobWorkload::why, which is empty for those that can). Under task parallelism a job takes any GPU that it fits
/// whole, or several with a copy each where there are more GPUs than jobs; under the others it has all GPUs that it may
/// use to itself, and runs on those of one datacenter on which a mini-batch is shortest. Nodes whose main memory a job
/// takes are its own.
/// Errors: Cancelled; those of no fault of a job's (Internal).
[[nodiscard]] ExpectedAll<std::vector<GangJob>> gangJobs(JobWorkloads &jobs, const RunContext &context);

} // namespace trainyard
