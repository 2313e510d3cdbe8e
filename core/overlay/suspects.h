#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Who slows the run down: ranks that others wait for, and links that carry less than they should, found in matched
// collectives and in compute times of ranks that do the same work.

#include "core/overlay/run_steps.h"
#include "core/placement/rank_map.h"

namespace trainyard {

struct Straggler {
    int rank = -1;
    double shareLast = 0; // of its matched collectives, those that it entered last
    // Median a step: how much longer than the median of ranks with the same work it is on its way from each collective
    // to the next, summed. What it waited for others before is not counted as its own.
    double lateSeconds = 0;
    double computeRatio = 1; // its kernels' time over the median of ranks with the same work, by medians of each name
    std::string
        sentence; // "rank 5 (stage 1, replica 2) computes 21 % longer than ranks like it; 7 others wait 80 ms a step"
};

struct SlowLink {
    std::string between; // "ranks 3 and 11 (Virginia to Oregon)" or "group dp_0 (8 ranks)"
    double busBytesPerSecond = 0, expected = 0; // expected: of the plan, or median of like groups
    std::string sentence;
};

struct Suspects {
    std::vector<Straggler> stragglers; // worst first
    std::vector<SlowLink> links; // worst first
};

/// `map`: which ranks do the same work; empty: those whose collectives are of the same kinds, sizes and numbers. Told
/// from 2 % of the step and five standard errors on, and only where at least five matched collectives or three steps
/// show it.
[[nodiscard]] Suspects findSuspects(const Run &run, const RankMap &map);

} // namespace trainyard
