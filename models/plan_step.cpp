// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/plan_step.h"

#include "core/iteration/placement/degrees.h"

namespace trainyard {

bool isBound(const Plan &plan)
{
    return plan.stack.name == "ideal";
}

std::optional<PinnedData> pinnedData(const Plan &plan)
{
    const Degrees p = degreesOf(plan);
    const int there = plan.cluster.gpus(), group = p.tensor * p.pipeline * p.context;
    if (!p.data || group < 1 || group > there || *p.data * group <= there)
        return std::nullopt;
    return PinnedData { *p.data, there / group, *p.data * group, there };
}

} // namespace trainyard
