#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How much of the communication of each group and step ran beside computing: of collectives of tensor and data parallel
// groups the part that moves data, waiting left out, as the rank shows it that came last. Small messages,
// which frameworks exchange beside the layers' own, are left out.

#include "core/iteration/placement/rank_map.h"
#include "core/runs/overlay/run_steps.h"

#include <stop_token>

namespace trainyard {

struct HiddenSample {
    /// of the job, one of the group
    int rank = -1;
    /// else of data parallel ranks
    bool isTensor = false;
    /// of a step
    double seconds = 0, hidden = 0;
};

/// Of each tensor and data parallel group in each of these steps that shows a matched collective. Stopped: of some.
[[nodiscard]] std::vector<HiddenSample> hiddenSamples(
    const Run &run, const std::vector<int> &steps, const RankMap &map, const std::stop_token &stop = {});

} // namespace trainyard
