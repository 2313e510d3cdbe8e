#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A workload that accumulates layer by layer as numbers for core/systems/unequal_gpus: replicas that lie and are pinned
// alike, with their times and memory by micro-batch, measured or else those of the cost model. docs/model.md, "Mixed
// GPUs".

#include "core/iteration/layouts/replica_runs.h"
#include "core/iteration/memory/layered_memory.h"
#include "core/systems/unequal_gpus/share_problem.h"

namespace trainyard {

/// The problem that the plan states; a kind for each run of `replicaRuns`. Ranks are tensor and context groups. With
/// activations `away` as far as offload may let them leave, copies of a stated share bound the time of a layer; an
/// automatic share costs none.
[[nodiscard]] ShareProblem shareProblem(
    const Workload &workload, const std::vector<ReplicaRun> &runs, CountedAway away = CountedAway::Boundaries);

} // namespace trainyard
