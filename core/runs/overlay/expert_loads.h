#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What ranks of an expert group compute between the exchange that brings them tokens and the one that takes the results
// back: it hangs on how many tokens they were given, and the group waits for the rank with the most.

#include "core/runs/overlay/step_replay.h"

namespace trainyard {

struct ExpertLoads {
    /// [work] that lies between the two exchanges; empty: no group exchanges tokens
    std::vector<bool> isExpert;
    /// [work] ns, had each rank the mean of its group; the longest then lies as far above it as where no tokens decide
    std::vector<std::int64_t> balanced;
    /// of a step: the longest of a group over its mean, weighed by time
    double mostOverMean = 1;
    /// standard deviation over the ranks of a group, as a share of the mean: of experts; of what lies between them
    double spread = 0, usualSpread = 0;
    [[nodiscard]] bool areUneven() const { return spread > 2 * usualSpread && spread > 0; }
};

/// Of groups whose exchanges (all_to_all) come in pairs in each step.
[[nodiscard]] ExpertLoads expertLoads(const Run &run, const StepReplay &replay);

} // namespace trainyard
