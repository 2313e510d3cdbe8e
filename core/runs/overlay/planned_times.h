#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the plan says of the parts of an iteration that a run shows one by one: computing of a rank of each stage, its
// exchanges by kind, transfers between stages. Beside the sums of the same in a run.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/iteration/placement/rank_map.h"

#include <optional>
#include <vector>

namespace trainyard {

/// Of a rank of one stage of one class of pipelines; seconds of an iteration, whether they are hidden or not.
struct PlannedStage {
    /// the optimizer's step too, where it is on the GPU
    double compute = 0;
    /// gradients, and parameters that are gathered after the step
    double gradients = 0;
    /// to the next stage, both ways together; 0: it is the last, or the way crosses datacenters
    double transfers = 0;
};

struct PlannedTimes {
    /// [class][stage]
    std::vector<std::vector<PlannedStage>> stages;
    /// ranks of consecutive numbers that reach each other without the fabric
    int domain = 1;
    /// of the host at the end of an iteration
    double overhead = 0;
    /// of that place; nullptr: the plan has no such
    [[nodiscard]] const PlannedStage *of(const RankPlace &place, const Evaluation &evaluation) const;
};

/// Empty: the plan's times are measured ones, or it cannot be costed.
[[nodiscard]] std::optional<PlannedTimes> plannedTimes(const Evaluation &evaluation, const Catalogue &catalogue);

} // namespace trainyard
