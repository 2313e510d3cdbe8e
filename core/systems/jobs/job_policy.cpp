// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/jobs/job_policy.h"

#include "core/systems/jobs/listed_jobs.h"
#include "core/systems/jobs/random_jobs.h"
#include "core/systems/jobs/ranked_jobs.h"

namespace trainyard {

std::unique_ptr<JobPolicy> makePolicy(const JobSet &set, const JobRules &rules, const JobsUnderWay &progress)
{
    switch (rules.scheduler) {
    case JobScheduler::Fifo:
        return std::make_unique<RankedJobs>(set, progress, RankedJobs::By::List);
    case JobScheduler::Random:
        return std::make_unique<RandomJobs>(set, progress, rules.seed);
    case JobScheduler::ShardMilp:
        return std::make_unique<ListedJobs>(progress, rules.order, rules.numbers);
    default:
        return std::make_unique<RankedJobs>(set, progress, RankedJobs::By::RemainingWork);
    }
}

} // namespace trainyard
