#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a plan can be seated and fits its GPUs, simulating it only where activations leave the GPU: what searches
// over memory ask thousands of times.
// Pure function of its arguments. Orders that a greedy stage makes as it runs are counted at the most that it may hold.

#include "core/catalogue/catalogue.h"
#include "core/plan/plan.h"

#include <cstdint>

namespace trainyard {

struct Footprint {
    bool isSeated = false;         // it can be placed and scheduled
    bool fits = false;             // and every GPU holds its stage
    std::int64_t device = 0;       // bytes of the fullest GPU: the one with the largest share of its memory taken
    std::int64_t capacity = 0;
};

/// Of the placement that fits, or else of the one that comes nearest.
[[nodiscard]] Footprint footprint(const PlanPtr &plan, const Catalogue &catalogue);

} // namespace trainyard
