#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Nodes that do nothing, and plans without them: what a search that is asked about money or GPUs hands back, and what
// retirements propose. Read-only, any thread; a workspace each.

#include "core/evaluation/evaluate/run.h"

#include <optional>
#include <vector>

namespace trainyard {

struct PoolNodes { // so many nodes of one pool
    int datacenter = 0, pool = 0, nodes = 0;
};

/// Of each pool the nodes that hold no stage.
[[nodiscard]] std::vector<PoolNodes> idleNodes(const Plan &plan, const Layout &layout);

/// The plan with fewer nodes. A pool that has none left goes, and so does a datacenter, its links and what names them:
/// all pins of stages where one names it, and pins of ranks. Nothing where no GPU would be left.
[[nodiscard]] std::optional<Plan> withoutNodes(const Plan &plan, const PoolNodes &what);

struct Trimmed {
    /// the same plan where nothing could be taken from it
    PlanPtr plan;
    /// at Depth::Score
    EvaluationPtr evaluation;
    /// GPUs
    int gone = 0;
    /// idle GPUs of whole nodes without which the plan would be another one
    int kept = 0;
};

/// The plan without its idle nodes, as far as it stays the same: the same iteration to the last bit, the same GPUs,
/// memory and traffic of each stage, which is seen by evaluating it. Where the placement would be searched anew and
/// come out otherwise, what it came to is stated in the plan. A plan with jobs stays as it is. Errors: of the plan, as
/// run().
[[nodiscard]] ExpectedAll<Trimmed> withoutIdleNodes(const PlanPtr &plan, const RunContext &context);

} // namespace trainyard
