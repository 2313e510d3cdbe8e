#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How a device that follows no fixed order picks its next operation (OrderRule). OpportunisticForward: while the head,
// other than a forward, cannot start, the next forward becomes the head and is waited for. WorkConserving: the first
// that can start of the next backward, the next forward within the limit, the next recomputation, which comes right
// before its backward. Tasks of other kinds on such a device come last.

#include "core/engine/schedule/program.h"
#include "core/engine/timeline/run_time_policy.h"

namespace trainyard {

/// nullptr where the order is fixed.
[[nodiscard]] const RunTimePolicy *forwardPolicy(OrderRule rule);

} // namespace trainyard
