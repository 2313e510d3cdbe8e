#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What must hold between the parts of a plan before anything can be computed, whatever the catalogue says: unique ids,
// links and pins that name datacenters, degrees that divide. What makes a plan infeasible but computable (memory,
// locations) is a problem of its evaluation, not an error here.

#include "core/base/error.h"
#include "core/facts/plan/plan.h"

namespace trainyard {

/// Placements, fixes and effects each look at every pool: a window with 20,000 took half a minute and 10 GB.
inline constexpr std::size_t kMostPools = 4'096;
/// Of all datacenters; one without any counts as one.
[[nodiscard]] std::size_t poolCount(const Cluster &cluster);

/// Every contradiction; empty where there is none. `where` is a dotted key.
[[nodiscard]] Errors validatePlan(const Plan &plan);

/// The same of a plan whose cluster is known to have none of its own.
[[nodiscard]] Errors validateBesideCluster(const Plan &plan);

} // namespace trainyard
