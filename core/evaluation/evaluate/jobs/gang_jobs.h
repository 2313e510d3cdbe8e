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
    std::string name; // what was chosen: "GPipe, 4 stages, 8 micro-batches"
    GpuList gpus; // of which it takes `width`, ascending
    int width = 1;
    bool isInNode = false; // of one node
    PlanPtr plan; // of one mini-batch, on `width` GPUs
    bool isMeasured = false; // it takes what was measured
    Nanoseconds minibatch = 0;
    double busyShare = 1; // of the time of its GPUs in which they compute
    std::vector<GangPlace> places; // [one of `width`]: what of the plan's evaluation it does
    std::vector<StageMemory> memory; // [stage] of that evaluation
    std::int64_t hostBytes = 0; // of main memory that it takes on each of its nodes
};
using GangFormPtr = std::shared_ptr<const GangForm>;

struct GangJob {
    int job = 0; // index into JobWorkloads::jobs
    std::vector<GangFormPtr> forms; // it takes the first of which GPUs are free
    std::shared_ptr<const GpuList> reserved; // that nobody else gets meanwhile; null: those that it runs on
};

/// One for each job that can run, by priority, then in the order of the list; why not, for the others
/// (JobWorkload::why, which is empty for those that can). Under task parallelism a job takes any GPU that it fits
/// whole, or several with a copy each where there are more GPUs than jobs; under the others it has all GPUs that it may
/// use to itself, and runs on those of one datacenter on which a mini-batch is shortest. Nodes whose main memory a job
/// takes are its own.
/// Errors: Cancelled; those of no fault of a job's (Internal).
[[nodiscard]] ExpectedAll<std::vector<GangJob>> gangJobs(JobWorkloads &jobs, const RunContext &context);

} // namespace trainyard
