#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What else could be done with the jobs of a plan, each as a plan that was evaluated: other schedulers, what each part
// of Hydra is worth (spilling, then SHARP, then double buffers), more and fewer GPUs, one GPU more. For the window's
// small multiples and for `explain --jobs`.

#include "core/evaluation/evaluate/run.h"

#include <string>
#include <vector>

namespace trainyard {

struct JobVariant {
    /// "First in, first out", "Spilling alone", "4 GPUs"
    std::string name;
    /// why it has no time, or what it lacks, jobs that cannot run among that; may be empty
    std::string note;
    PlanPtr plan;
    /// null where it could not be evaluated
    EvaluationPtr evaluation;
    /// empty where the variant cannot run, or is not compared (core/evaluation/evaluate/comparable.h)
    [[nodiscard]] Metric makespan() const;
    /// to their ends
    [[nodiscard]] int jobsRun() const;
};
/// How many times as fast `of` is as `over`; nothing where one of them has no time, or runs fewer jobs than the other.
[[nodiscard]] Metric speedUp(const JobVariant &over, const JobVariant &of);

// A stop token ends each list before the next variant. Nothing of a plan without jobs.

/// The plan's own first, then every other scheduler that is modelled; a solver's only where `solvers`. With timelines,
/// unless they would be too long to draw.
[[nodiscard]] std::vector<JobVariant> jobSchedulers(const PlanPtr &plan, const RunContext &context, bool solvers);
/// What each part of Hydra is worth, whatever the plan's own scheduler is. Spilling alone: the cluster cut to its first
/// GPU, jobs in the order of the list one after the other, no double buffer. With SHARP: all GPUs, sharded-LRTF, no
/// double buffer. With double buffers: that as well.
[[nodiscard]] std::vector<JobVariant> jobAblation(const PlanPtr &plan, const RunContext &context);
/// The plan on its first 1, 2, 4, … and all GPUs, in the order of the cluster; pins to others are dropped. Here and
/// below a solver's place is taken by sharded-LRTF, and the note says so.
[[nodiscard]] std::vector<JobVariant> jobScaling(const PlanPtr &plan, const RunContext &context);
/// The plan with one GPU more in each pool that serves jobs, in the last node of the pool.
[[nodiscard]] std::vector<JobVariant> jobsWithOneMoreGpu(const PlanPtr &plan, const RunContext &context);

} // namespace trainyard
