#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which GPUs have which tensor parallel degree: a pool is one part unless a pin of the plan (heterogeneity.assign)
// gives some of its GPUs a degree of their own. Pure functions of a plan.

#include "core/iteration/placement/layout.h"

#include <vector>

namespace trainyard {

struct PoolPart {
    /// its degree: 0 where every part has the plan's
    StageLocation at;
    /// that degree
    int tensor = 1;
    /// consecutive ones of the pool
    int firstGpu = 0, gpus = 0;
    /// the degree is
    bool isPinned = false;
};

/// Of all pools in their order. A pin takes the next GPUs that it is about, as many as it says.
[[nodiscard]] std::vector<PoolPart> poolParts(const Plan &plan);

} // namespace trainyard
