#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How much of the communication of each rank and step ran beside computing: of collectives of tensor and data parallel
// groups the part that moves data, waiting left out, as the rank shows it that came last.

#include "core/overlay/run_steps.h"
#include "core/placement/rank_map.h"

namespace trainyard {

struct HiddenSample {
    int rank = -1; // of the job
    double tensor = 0, tensorHidden = 0; // seconds of a step
    double data = 0, dataHidden = 0;
    [[nodiscard]] double hidden() const { return tensorHidden + dataHidden; }
};

/// Of each rank in each of these steps: matched collectives for which it was the last to come.
[[nodiscard]] std::vector<HiddenSample> hiddenSamples(
    const Run &run, const std::vector<int> &steps, const RankMap &map);

} // namespace trainyard
