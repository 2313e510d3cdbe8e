// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/alternatives_internal.h"
#include "core/facts/plan/job_schedulers.h"

#include "core/facts/plan/job_schedulers.h"

namespace trainyard {

namespace {

using detail::addGroup;
using detail::Choice;
using detail::choicesOf;

std::vector<Choice<JobScheduler>> schedulers()
{
    std::vector<Choice<JobScheduler>> choices = choicesOf<JobScheduler>();
    for (const JobScheduler later : { JobScheduler::Milp, JobScheduler::List })
        choices[std::size_t(later)].blocked = "not modelled in this version";
    return choices;
}

} // namespace

std::vector<Alternative> jobAlternatives(const Plan &plan)
{
    std::vector<Alternative> out;
    if (!hasJobs(plan))
        return out;
    const JobOptions &options = plan.jobOptions;
    addGroup(out, plan, "job_scheduler", "Scheduler", schedulers(), plan.jobScheduler,
        [](Plan &p, JobScheduler s) { p.jobScheduler = s; });
    const std::string whole = isByShards(plan.jobScheduler) ? "" : "the scheduler gives whole GPUs to whole jobs";
    const std::vector<Choice<bool>> onOff { { false, "false", "off", whole }, { true, "true", "on", whole } };
    addGroup(out, plan, "spill", "Spilling", onOff, options.spill, [](Plan &p, bool on) { p.jobOptions.spill = on; });
    addGroup(out, plan, "double_buffer", "Double buffer", onOff, options.doubleBuffer,
        [](Plan &p, bool on) { p.jobOptions.doubleBuffer = on; });
    std::vector<Choice<bool>> ahead = onOff;
    if (options.doubleBuffer && whole.empty())
        ahead.front().blocked = "a buffer is filled ahead, so double buffering implies it";
    addGroup(out, plan, "look_ahead", "Look-ahead", ahead, options.looksAhead(),
        [](Plan &p, bool on) { p.jobOptions.lookAhead = on; });
    const bool counts = plan.jobScheduler == JobScheduler::ShardedLrtf;
    addGroup(out, plan, "remaining", "Remaining work",
        choicesOf<RemainingWork>(!whole.empty() ? whole
                : counts                        ? ""
                                                : "only the longest remaining time counts it"),
        options.remaining, [](Plan &p, RemainingWork w) { p.jobOptions.remaining = w; });
    return out;
}

} // namespace trainyard
