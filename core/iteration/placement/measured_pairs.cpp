// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/measured_pairs.h"

#include <algorithm>

namespace trainyard {

Seconds measuredPair(const Plan &plan, int stage)
{
    if (!hasMeasuredPairs(plan))
        return {};
    const PerStage &times = plan.profile->pairedMs;
    return milliseconds(times[std::min(std::size_t(stage), times.size() - 1)]);
}

bool hasMeasuredPairs(const Plan &plan)
{
    return plan.profile && !plan.profile->pairedMs.empty();
}

} // namespace trainyard
