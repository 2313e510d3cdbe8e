#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How fast each rank computes in each step beside ranks that do the same work, so that a GPU that slows down for a
// while is seen too. By the kernels of a name on both; medians, so that a wild kernel says nothing.

#include "core/iteration/placement/rank_map.h"
#include "core/runs/overlay/step_replay.h"

namespace trainyard {

struct RankSpeed {
    /// of Recording::ranks
    std::uint32_t index = 0;
    /// recorded ranks with the same work
    int likes = 0;
    /// [step of the replay] what its kernels take, over the median of its likes
    std::vector<double> ratios;
    /// their mean; its standard error
    double ratio = 1, error = 0;
    /// of a step: all its kernels, those compared and others, each as long as at its place in most steps
    double seconds = 0;
};

/// Of each rank that computes in the replayed steps, by Recording::ranks. `leftOut` [work]: not compared, since its
/// time hangs on what the rank was given (experts); may be empty.
[[nodiscard]] std::vector<RankSpeed> rankSpeeds(
    const Run &run, const RankMap &map, const StepReplay &replay, const std::vector<bool> &leftOut);

} // namespace trainyard
