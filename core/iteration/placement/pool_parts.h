#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which GPUs have which tensor parallel degree: a pool is one part unless a pin of the plan (heterogeneity.assign)
// gives some of its GPUs a degree of their own. Pure functions of a plan.

#include "core/iteration/placement/layout.h"

#include <vector>

namespace trainyard {

struct PoolPart {
    StageLocation at; // its degree: 0 where every part has the plan's
    int tensor = 1; // that degree
    int firstGpu = 0, gpus = 0; // consecutive ones of the pool
    bool isPinned = false; // the degree is
};

/// Of all pools in their order. A pin takes the next GPUs that it is about, as many as it says.
[[nodiscard]] std::vector<PoolPart> poolParts(const Plan &plan);

} // namespace trainyard
