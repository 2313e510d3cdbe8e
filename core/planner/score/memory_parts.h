#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the parts about memory and those about time both ask of a workload.

#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// The last stage too recomputes every micro-batch.
[[nodiscard]] bool recomputesLast(const Workload &workload);

} // namespace trainyard
