#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Measured times of a forward and a backward of two micro-batches at once, for schedules that pair them.

#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// Of a stage, all its layers; 0 where they were not measured.
[[nodiscard]] Seconds measuredPair(const Plan &plan, int stage);
[[nodiscard]] bool hasMeasuredPairs(const Plan &plan);

} // namespace trainyard
