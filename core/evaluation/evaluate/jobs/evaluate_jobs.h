#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The evaluation of a plan with jobs, for run() alone. Schedulers by shards run core/systems/jobs; those that give
// whole GPUs to whole jobs (model parallel, task parallel, pipeline, ZeRO-3 offloaded) evaluate each job as a plan of
// its own by run() and lay its mini-batches out one after the other. The layout has one class whose stages are the
// GPUs, in the order of the cluster, so that tracks, memory curves and places are read as of any other plan;
// Metrics::jobs says the rest. Metrics of an iteration stay empty.

#include "core/evaluation/evaluate/run.h"
#include "core/iteration/job_shards/job_workloads.h"

namespace trainyard {

[[nodiscard]] ExpectedAll<Evaluation> evaluateJobs(const PlanPtr &plan, Depth depth, const RunContext &context);

} // namespace trainyard
