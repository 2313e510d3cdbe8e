// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/planner_engine.h"

namespace trainyard {

PlannerEngine corePlanner()
{
    return { &search, &stepsBetween, &withoutIdleNodes, &namedScenarios };
}

} // namespace trainyard
