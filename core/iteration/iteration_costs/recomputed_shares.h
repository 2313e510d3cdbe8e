#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How much of what a plan recomputes its schedule really does again: a backward that follows its own forward finds its
// activations still there.

#include "core/iteration/cost/kernel_seconds.h"
#include "core/iteration/iteration_costs/iteration_costs.h"

namespace trainyard {

/// [class][stage][chunk]: of its backwards those that recompute, by the orders of the schedule. Empty where nothing is
/// recomputed, or nobody tells.
[[nodiscard]] std::vector<std::vector<RecomputedShares>> recomputedShares(const Plan &plan, const Costs &costs);

} // namespace trainyard
