#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What each stage of each class of pipelines spends the iteration on, with what its operations exchange inside taken
// out of their time. Pure function, any thread.

#include "core/evaluation/evaluate/evaluation.h"

#include <vector>

namespace trainyard {

struct StageSeconds {
    int pipelineClass = 0;
    /// adds up to the iteration
    Breakdown spent;
    int stage = 0;
    /// of its spans of forward, backward and recompute
    double computeShare = 1;
};

/// Of each compute track, in track order.
[[nodiscard]] std::vector<StageSeconds> secondsOfStages(const Timeline &timeline);

} // namespace trainyard
