#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// From what a scheduler made of the jobs to layout, metrics and problems of the evaluation. Pure functions.

#include "core/evaluation/evaluate/jobs/job_outcome.h"

namespace trainyard {

/// One class whose stages are the GPUs, in the order of the cluster. Runs: those that computed; idle: the others, with
/// a reason.
[[nodiscard]] Layout jobLayout(const JobWorkloads &jobs, const JobOutcome &outcome);
/// `keepsCurves`: of the memory of hosts.
[[nodiscard]] JobMetrics jobMetrics(const JobWorkloads &jobs, const JobOutcome &outcome, bool keepsCurves);

} // namespace trainyard
