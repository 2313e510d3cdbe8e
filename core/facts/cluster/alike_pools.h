#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Pools of equal nodes: apart from their names and how many nodes they have, nothing tells one from the other.

#include "core/facts/plan/plan.h"

namespace trainyard {

[[nodiscard]] inline bool areAlike(const Pool &a, const Pool &b)
{
    return a.gpusPerNode == b.gpusPerNode && a.gpu == b.gpu && a.usdPerGpuHour == b.usdPerGpuHour
        && a.inlineGpu == b.inlineGpu && a.ssd == b.ssd && a.host == b.host;
}

} // namespace trainyard
