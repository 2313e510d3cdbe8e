// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/axes_internal.h"

namespace trainyard::detail {

/// The solver works against a clock, and two schedulers are not modelled: they are a plan's own choice alone.
void addJobAxes(AxisList &axes)
{
    axes.offer(rowOf(&Plan::jobScheduler), placesOf(JobScheduler::ShardMilp, JobScheduler::Milp, JobScheduler::List));
    axes.offer(rowOf(&JobOptions::spill));
    axes.offer(rowOf(&JobOptions::doubleBuffer));
    axes.offer(rowOf(&JobOptions::lookAhead));
}

} // namespace trainyard::detail
