#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What each rank does in a step beside ranks that do the same work: how long its kernels take, and how long it needs
// from one collective to the next. What a rank waits for others is not counted as its own.

#include "core/iteration/placement/rank_map.h"
#include "core/runs/overlay/run_steps.h"

namespace trainyard {

struct WorkOfRank {
    int rank = -1;
    /// recorded ranks with the same work
    int likes = 0;
    /// that tell of it
    int steps = 0, matches = 0;
    /// of kernels that compute, median a step
    double computeSeconds = 0;
    /// over its likes, kernel by kernel's name by medians; standard error
    double computeRatio = 1, computeError = 0;
    /// of its collectives, those that it entered last
    double shareLast = 0;
    /// that share, were it nobody's doing; its standard deviation
    double lastByChance = 0, lastError = 0;
    /// A step, of its own way from a collective to the next one, over the median of those who leave and enter the same.
    double lateSeconds = 0, lateError = 0;
    /// ranks that wait for it
    int waiting = 0;
    /// each of them, a step
    double waitSeconds = 0;
};

/// Of all recorded ranks that have a number and show spans in steps. Like: the same stage and degree of tensor
/// parallelism by the map, and GPUs of the same name; without a map, as far down the pipeline by who sends first to
/// whom, and collectives of the same kinds, sizes and numbers.
[[nodiscard]] std::vector<WorkOfRank> workOfRanks(const Run &run, const RankMap &map);

/// Which recorded ranks (of Recording::ranks) do the same work: of each a number.
[[nodiscard]] std::vector<int> likesOf(const Run &run, const RankMap &map);

} // namespace trainyard
