#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A job as a plan of its own, for all schedulers alike: whoever gives it GPUs goes on from here.

#include "core/facts/plan/plan.h"

namespace trainyard {

/// A plan that trains what the job does on one GPU, a mini-batch in one piece. Of the whole plan it takes its name,
/// cluster, stack and folder, and of the sections that say nothing about jobs `workload.galore_rank` and
/// `heterogeneity.memory_fraction`, which a job has no keys for. All else is default: no strategy of the plan's own
/// iteration, no calibration, no measured times. The model goes by its name.
[[nodiscard]] Plan planOfJob(const Plan &whole, const Job &job);

/// The names of those sections that say something in this plan, and nothing to its jobs.
[[nodiscard]] std::vector<std::string> sectionsSetAside(const Plan &plan);

} // namespace trainyard
