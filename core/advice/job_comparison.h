#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What else could be done with the jobs of a plan, each as a plan that was evaluated: other schedulers, what each part
// of Hydra is worth (spilling, then SHARP, then double buffers), more and fewer GPUs, one GPU more. For the window's
// small multiples and for `explain --jobs`.

#include "core/evaluate/run.h"

#include <string>
#include <vector>

namespace trainyard {

struct JobVariant {
    std::string name; // "First in, first out", "Spilling alone", "4 GPUs"
    std::string note; // why it has no time, or what it lacks; may be empty
    PlanPtr plan;
    EvaluationPtr evaluation; // null where it could not be evaluated
    [[nodiscard]] Metric makespan() const;
};

/// The plan's own first, then every other scheduler; a solver's only where `solvers`.
[[nodiscard]] std::vector<JobVariant> jobSchedulers(const PlanPtr &plan, const RunContext &context, bool solvers);
/// Spilling alone (a job at a time on one GPU, transfers in full view), with SHARP, with double buffers.
[[nodiscard]] std::vector<JobVariant> jobAblation(const PlanPtr &plan, const RunContext &context);
/// The plan on 1, 2, 4, … and all of its GPUs, in the order of the cluster.
[[nodiscard]] std::vector<JobVariant> jobScaling(const PlanPtr &plan, const RunContext &context);
/// The plan with one GPU more in each pool that serves jobs.
[[nodiscard]] std::vector<JobVariant> jobsWithOneMoreGpu(const PlanPtr &plan, const RunContext &context);

} // namespace trainyard
