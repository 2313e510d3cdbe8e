#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A workload that accumulates layer by layer as numbers for core/mixed: replicas that lie and are pinned alike, with
// their times and memory by micro-batch, measured or else those of the cost model. docs/model.md, "Mixed GPUs".

#include "core/mixed/share_problem.h"
#include "core/placement/resolve.h"

#include <string>

namespace trainyard {

/// Replicas that lie alike and are pinned alike: of each of them one entry, in the order of the layout.
struct ReplicaRun {
    StageLocation at;
    int firstPipeline = 0, pipelines = 0;
    const RankPin *pin = nullptr;
};
[[nodiscard]] std::vector<ReplicaRun> replicaRuns(const Workload &workload);
/// A pin that asks for more replicas than are left there, in words; empty: none.
[[nodiscard]] std::string unansweredPin(const Workload &workload, const std::vector<ReplicaRun> &runs);

/// The problem that the plan states; a kind for each run of `replicaRuns`. Ranks are tensor and context groups.
[[nodiscard]] ShareProblem shareProblem(const Workload &workload, const std::vector<ReplicaRun> &runs);

} // namespace trainyard
