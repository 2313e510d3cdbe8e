#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Very many mini-batches: where all units would be too many, each stands for several of them.

#include "core/systems/jobs/job_set.h"

namespace trainyard {

/// Of a job's M mini-batches n are left, each of which takes as long as M / n of them and moves as much
/// (JobSpec::minibatchesPerUnit), so that no work and no transfer is lost. Returned is the most that a unit stands for;
/// 1: there are few enough; 0: one mini-batch of each job is too many.
[[nodiscard]] int takeTogether(JobSet &set, double mostUnits);

} // namespace trainyard
