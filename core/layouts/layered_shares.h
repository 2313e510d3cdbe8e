#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Who gets what under accumulation layer by layer, where every replica is one stage: the workload as numbers for
// core/mixed, and its answer as classes of the layout. Times and memory by micro-batch are measured, or else those of
// the cost model. docs/model.md, "Mixed GPUs".

#include "core/mixed/share_problem.h"
#include "core/placement/resolve.h"

namespace trainyard {

/// Replicas that lie alike and are pinned alike: of each of them one entry, in the order of the layout.
struct ReplicaRun {
    StageLocation at;
    int firstPipeline = 0, pipelines = 0;
    const RankPin *pin = nullptr;
};
[[nodiscard]] std::vector<ReplicaRun> replicaRuns(const Workload &workload);

/// The problem that the plan states; a kind for each run of `replicaRuns`. Ranks are tensor and context groups.
[[nodiscard]] ShareProblem shareProblem(const Workload &workload, const std::vector<ReplicaRun> &runs);

/// Deals the micro-batches and states of a placed layout, and notes how. Where they cannot be dealt as asked everything
/// stays even and `shares.why` says what is in the way.
void shareOutLayered(Workload &workload);

} // namespace trainyard
