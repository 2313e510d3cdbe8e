#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which layers of a stage are recomputed, in whole or in part: the plan's recomputation by blocks. Pure functions.

#include "core/iteration/placement/resolve.h"

#include <vector>

namespace trainyard {

/// Something of a layer is recomputed.
[[nodiscard]] bool recomputesAnything(const Plan &plan);

struct RecomputedLayers {
    int dense = 0, experts = 0;
    bool operator==(const RecomputedLayers &) const = default;
};

/// By virtual stage: layers that are recomputed as a whole. The first `memory.recompute_layers` of the stage under
/// full recomputation, all of them without that key; layers without experts come first in a chunk.
[[nodiscard]] std::vector<RecomputedLayers> recomputedLayers(const Workload &workload, int stage);

/// Of all layers of the model, the share that is: what HFU counts.
[[nodiscard]] double recomputedShare(const Workload &workload);

} // namespace trainyard
