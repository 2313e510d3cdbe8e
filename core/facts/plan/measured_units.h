#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Measured times of a job's units as those of the stages of a plan that trains the job alone. Pure function of values.

#include "core/facts/plan/plan.h"

namespace trainyard {

/// The plan with stages that take what was measured: 2K - 1 units of K shards (core/facts/plan/jobs.h, Job::unitMs),
/// dealt to its stages in order and over its micro-batches. The last unit of the forward pass, which is forward and
/// backward in one, is parted as the others are together. Nothing is taken off for the forward that backward units of
/// shards compute again: the same times are the same work under every scheduler, and the plan does not add its own
/// recomputation. Null where it has more stages than shards, or parameters off the GPU, of which nothing was measured.
[[nodiscard]] PlanPtr withMeasuredUnits(const Plan &plan, const std::vector<double> &unitMs);

} // namespace trainyard
