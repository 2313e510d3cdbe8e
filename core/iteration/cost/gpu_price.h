#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What an hour of a GPU costs. Shared by the ranking of datacenters and the bounds of its search.

#include "core/iteration/placement/workload.h"

namespace trainyard {

/// USD. A rental price includes power; hardware of one's own (price 0) pays for what it draws at this utilization.
[[nodiscard]] double usdPerGpuHour(const Requested &asked, StageLocation location, double utilization);

} // namespace trainyard
