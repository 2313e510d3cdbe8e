#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Who slows the run down: ranks that others wait for, and links that carry less than they should, found in matched
// collectives and in compute times of ranks that do the same work.

#include "core/iteration/placement/rank_map.h"
#include "core/runs/overlay/run_steps.h"
#include "core/runs/overlay/work_of_ranks.h"

namespace trainyard {

struct Evaluation;

struct Straggler {
    int rank = -1;
    /// of its matched collectives, those that it entered last
    double shareLast = 0;
    // Median a step: how much longer than the median of ranks with the same work it is on its way from each collective
    // to the next, summed. What it waited for others before is not counted as its own.
    double lateSeconds = 0;
    /// its kernels' time over the median of ranks with the same work, by medians of each name
    double computeRatio = 1;
    // "Rank 5 (stage 1, pipeline 2) computes 21.0 % longer than ranks like it; 7 others wait 80.0 ms per step for it";
    // stages and pipelines count from 1
    std::string sentence;
};

struct SlowLink {
    /// "ranks 3 and 11 (stages 1 and 2, pipeline 4)" or "group dp_0 (8 ranks)"
    std::string between;
    // Expected: the median of groups like it; of a link between datacenters what the plan says (link_rates.h), which
    // has no other like it and is not judged without a plan.
    double busBytesPerSecond = 0, expected = 0;
    std::string sentence;
    /// datacenters of the plan, of a link between two; else -1
    int from = -1, to = -1;
};

struct Suspects {
    /// of every recorded rank, what they were told from
    std::vector<WorkOfRank> work;
    /// worst first
    std::vector<Straggler> stragglers;
    /// worst first
    std::vector<SlowLink> links;
};

/// standard errors from which on a difference is no chance
inline constexpr double kSureErrors = 5;

/// `map`: which ranks do the same work; empty: those whose collectives are of the same kinds, sizes and numbers. Told
/// from 2 % of the step and five standard errors on, and only where at least five matched collectives or three steps
/// show it. `plan`: that links between datacenters are held against; null: none.
[[nodiscard]] Suspects findSuspects(const Run &run, const RankMap &map, const Evaluation *plan = nullptr);

} // namespace trainyard
