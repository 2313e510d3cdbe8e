#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// First room: a plan's names become figures.

#include "core/base/error.h"
#include "core/iteration/placement/workload.h"

namespace trainyard {

/// Names to figures: GPUs, model and stack.
/// Errors: every unknown name with the nearest known one, every contradiction that makes the plan meaningless.
[[nodiscard]] ExpectedAll<Requested> resolve(PlanPtr plan, const Catalogue &catalogue);

/// Whether a plan has the names and the hardware of another one that was resolved, so that Requested::askedBy() is
/// what resolve() would make of it: cluster, model and stack are equal, and nothing else depends on the rest of the
/// plan.
[[nodiscard]] bool sharesNames(const Plan &resolved, const Plan &plan);
/// What resolve() would find wrong with the plan of such a request.
[[nodiscard]] Errors errorsBesideNames(const Requested &asked);

} // namespace trainyard
