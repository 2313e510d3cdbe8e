#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Prefill on the GPUs that jobs leave idle: the bubbles of a run that does not repeat. No unit of a job moves; what is
// free of a GPU's memory is what jobs leave of it at its fullest. Internal to core/evaluation/evaluate/jobs.

#include "core/evaluation/evaluate/run.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// `cluster`: its GPUs, prices and rates (JobWorkloads::cluster). Needs the timeline, the layout (one class, a stage a
/// GPU), the memory of each GPU (none: nothing is counted) and the metrics of jobs. Adds tracks of prefill,
/// Metrics::bubbleFill and gpuUtilizationWithFill, and problems where nothing can be served. Nothing where the plan
/// asks for none. Errors: those of resolveBubbleService; Cancelled.
[[nodiscard]] ExpectedAll<void> addJobFill(Evaluation &evaluation, const Requested &cluster, const RunContext &context);

} // namespace trainyard
