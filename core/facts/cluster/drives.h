#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which pools have drives for what leaves their GPUs. Pure functions.

#include "core/facts/plan/plan.h"

namespace trainyard {

/// Drives that can be written and read.
[[nodiscard]] bool hasDrives(const Pool &pool);
[[nodiscard]] bool allHaveDrives(const Cluster &cluster);

} // namespace trainyard
