#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Stages that compute longer than the plan has it, beside its other stages, and what that costs: the plan is played
// again with the times that its stages really took, and once more with that stage as fast as the others. A stage that
// is slow makes others wait in transfers and reductions, so that sums over ranks blame the network.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/iteration/placement/rank_map.h"
#include "core/runs/overlay/work_of_ranks.h"

#include <span>

namespace trainyard {

struct StageInRun {
    /// from 0
    int stage = 0;
    /// recorded ranks of it
    int ranks = 0;
    /// Seconds of kernels that compute, a step: of the plan; of the run, by the median of its ranks, each over the
    /// plan's time of its own class.
    double planned = 0, measured = 0;
    /// measured / planned, over the median of that of the other stages
    double ratio = 1;
    /// What that costs a step, by the replay; 0 where it is no slower than the others.
    double seconds = 0;
    /// it is told from 4 % and from 2 % of the step on: "Stage 2 computes 20.0 % longer than …"; else empty
    std::string sentence;
};

/// Of all stages with a recorded rank, of a plan with several; none where the plan's times are measured ones, or where
/// ranks are not those of the plan. `work`: of the run's ranks (Suspects::work); `step`: seconds of its steps, median;
/// `map`: of the plan.
[[nodiscard]] std::vector<StageInRun> stagesInRun(std::span<const WorkOfRank> work, double step, const RankMap &map,
    const Evaluation &evaluation, const Catalogue &catalogue = builtinCatalogue());

} // namespace trainyard
