#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What else could be done with the jobs of a plan (advice/job_comparison.h), as `explain` prints it: schedulers against
// each other, what each part of Hydra is worth, more and fewer GPUs, one GPU more; speed-ups beside what they can be.

#include "core/evaluation/advice/job_comparison.h"

#include <string>
#include <vector>

namespace trainyard {

struct JobComparisons {
    /// the plan's own first
    std::vector<JobVariant> schedulers;
    std::vector<JobVariant> ablation, scaling, oneMore;
};

/// What SHARP gains over other ways where transfers hide and units are small (2107.06469): over model parallelism
/// min(G, n) of G GPUs and n jobs, since one GPU of them computes at a time; over a pipeline of K stages (M + K - 1) /
/// M of M micro-batches, which is its bubble. Here K = G and M a job's batch, in micro-batches of one sequence; of
/// several jobs the mean by their work.
struct SpeedupLimits {
    int gpus = 0, jobs = 0;
    double overModelParallel = 1, overPipeline = 1;
};
/// Of jobs that run.
[[nodiscard]] SpeedupLimits speedupLimits(const Evaluation &evaluation);

[[nodiscard]] std::string jobComparisonTable(const Evaluation &evaluation, const JobComparisons &compared);
/// {"own": {...}, "limits": {...}, "schedulers": [{"name", "scheduler", "makespan_s", ...}], "ablation": [...],
/// "scaling": [...], "one_more_gpu": [...]}
[[nodiscard]] std::string jobComparisonJson(const Evaluation &evaluation, const JobComparisons &compared);

} // namespace trainyard
