#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What stands between the jobs of a plan and their ends, in sentences: jobs that cannot run or end too late, host
// memory that makes them wait, GPUs that nobody uses, and what the plan asks that is not modelled.

#include "core/evaluation/evaluate/jobs/job_outcome.h"
#include "core/facts/plan/job_schedulers.h"

namespace trainyard {

/// Of an evaluation with layout and Metrics::jobs.
[[nodiscard]] std::vector<Problem> findJobProblems(
    const Evaluation &evaluation, const JobWorkloads &jobs, const JobOutcome &outcome);
/// The problem of a scheduler that is not modelled; nothing for the others.
[[nodiscard]] std::optional<Problem> schedulerProblem(const Plan &plan);

} // namespace trainyard
