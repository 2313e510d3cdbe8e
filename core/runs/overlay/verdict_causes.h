#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What typically stands behind a difference of that kind, first what the run itself shows (suspects, clocks, memory,
// arguments), then what the plan makes likely; and what the run leaves open. A sentence each. Pure functions.

#include "core/runs/overlay/ranked_causes.h"
#include "core/runs/overlay/slow_stages.h"
#include "core/runs/overlay/verdict_parts.h"

namespace trainyard {

/// Ranked causes stand first. Where stages are slow they are the cause, and what is typical of waiting for them is not
/// listed.
[[nodiscard]] std::vector<std::string> causesOf(const RunOverlay &overlay, const TakenApart &taken,
    const std::vector<StageInRun> &stages, const std::vector<RankedCause> &ranked);
[[nodiscard]] std::vector<std::string> doubtsOf(
    const RunOverlay &overlay, const TakenApart &taken); // verdict_doubts.cpp
/// Of a run that ends before any step is timed.
[[nodiscard]] std::vector<std::string> doubtsOfUntimed(const RunOverlay &overlay);

} // namespace trainyard
