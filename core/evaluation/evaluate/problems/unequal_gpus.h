#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Fast GPUs that wait for slow ones because work is shared out evenly. Pure functions.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/iteration/placement/resolve.h"

#include <optional>

namespace trainyard {

/// What a type of GPU computes for in an iteration: the longest of its sets.
struct GpuPace {
    const GpuSpec *gpu = nullptr;
    /// seconds
    double time = 0;
};
/// Of each type in use, slowest first.
[[nodiscard]] std::vector<GpuPace> gpuPaces(const Evaluation &evaluation, const Workload &workload);

/// A note where the fastest type waits a twentieth of the iteration or more for the slowest and the plan shares evenly
/// what could be shared by speed.
void addUnequalGpus(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload);

} // namespace trainyard
