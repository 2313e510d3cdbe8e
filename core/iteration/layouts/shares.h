#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Sharing work and states out to unequal GPUs, where the plan asks for it: after stages have their locations and before
// pipelines that cross the WAN form cells. docs/model.md, "Mixed GPUs".

#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// Whether the plan asks for anything but even shares. The bounds of placements count with those.
[[nodiscard]] bool sharesOut(const Plan &plan);

/// Whether the bold deal may turn out worse than the other, so that both are simulated: stages reduce and update at
/// the end besides, and how much leaves a GPU only its timetable says.
[[nodiscard]] bool dealsTwice(const Plan &plan);

} // namespace trainyard
