// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/job_plan.h"

namespace trainyard {

Plan planOfJob(const Plan &whole, const Job &job)
{
    Plan plan;
    plan.name = whole.name;
    plan.cluster = whole.cluster;
    plan.stack = whole.stack;
    plan.heterogeneity.memoryFraction = whole.heterogeneity.memoryFraction;
    plan.baseDir = whole.baseDir;
    plan.workload.model = job.model;
    plan.workload.sequenceLength = job.sequenceLength;
    plan.workload.globalBatch = plan.workload.microBatch = job.batch;
    plan.workload.precision = job.precision;
    plan.workload.optimizer = job.optimizer;
    plan.workload.galoreRank = whole.workload.galoreRank;
    plan.parallelism.data = 1;
    return plan;
}

} // namespace trainyard
