// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/axes_internal.h"

namespace trainyard::detail {

/// The solver works against a clock, and two schedulers are not modelled: they are a plan's own choice alone.
void addJobAxes(AxisList &axes, const Scope &scope)
{
    const JobOptions &options = scope.plan.jobOptions;
    axes.addChoices("job_scheduler", "job_scheduler", "Scheduler", scope.plan.jobScheduler,
        [](Plan &p, JobScheduler s) { p.jobScheduler = s; },
        { JobScheduler::ShardMilp, JobScheduler::Milp, JobScheduler::List });
    axes.addSwitch(
        "spill", "job_options.spill", "Spilling", options.spill, [](Plan &p, bool on) { p.jobOptions.spill = on; });
    axes.addSwitch("double_buffer", "job_options.double_buffer", "Double buffer", options.doubleBuffer,
        [](Plan &p, bool on) { p.jobOptions.doubleBuffer = on; });
    axes.addSwitch("look_ahead", "job_options.look_ahead", "Look-ahead", options.lookAhead,
        [](Plan &p, bool on) { p.jobOptions.lookAhead = on; });
    axes.addChoices("remaining", "job_options.remaining", "Remaining work", options.remaining,
        [](Plan &p, RemainingWork w) { p.jobOptions.remaining = w; });
}

} // namespace trainyard::detail
