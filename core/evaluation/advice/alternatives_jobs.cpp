// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/alternatives_internal.h"
#include "core/facts/plan/job_schedulers.h"

namespace trainyard {

std::vector<Alternative> jobAlternatives(const Plan &plan)
{
    using namespace detail;
    Alternatives out;
    if (!hasJobs(plan))
        return out;
    const KeyRow &scheduler = rowOf(&Plan::jobScheduler), &ahead = rowOf(&JobOptions::lookAhead);
    Choices schedulers = choicesOf(scheduler, plan);
    for (const JobScheduler later : { JobScheduler::Milp, JobScheduler::List })
        schedulers[std::size_t(later)].blocked = "not modelled in this version";
    addChoices(out, plan, scheduler, schedulers);
    offerAll(out, plan, &JobOptions::spill, &JobOptions::doubleBuffer);
    Choices aheads = choicesOf(ahead, plan, ahead.key.choice.rests(plan));
    if (plan.jobOptions.doubleBuffer && isByShards(plan.jobScheduler))
        aheads.front().blocked = "a buffer is filled ahead, so double buffering implies it";
    addChoices(out, plan, ahead, aheads, plan.jobOptions.looksAhead());
    offer(out, plan, rowOf(&JobOptions::remaining));
    return out;
}

} // namespace trainyard
