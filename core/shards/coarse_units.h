#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Very many mini-batches: where all units would be too many, each stands for several of them.

#include "core/jobs/job_set.h"

namespace trainyard {

/// Of a job's M mini-batches n are left, each of which takes as long as M / n of them, so that no work is lost; rates
/// of transfers are those over the factor that is returned, which M / n approaches where there are many. Bytes stay
/// those of one mini-batch, as what is on a GPU or in a host does. 1: there are few enough; 0: one mini-batch of each
/// job is too many.
[[nodiscard]] int takeTogether(JobSet &set, double mostUnits);

} // namespace trainyard
