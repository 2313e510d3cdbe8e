// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/job_plan.h"

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

std::vector<std::string> sectionsSetAside(const Plan &plan)
{
    std::vector<std::string> names;
    const auto ask = [&](const char *name, bool says) {
        if (says)
            names.emplace_back(name);
    };
    const Plan none;
    WorkloadSpec workload = plan.workload;
    workload.galoreRank = none.workload.galoreRank;
    Heterogeneity heterogeneity = plan.heterogeneity;
    heterogeneity.memoryFraction = none.heterogeneity.memoryFraction;
    ask("workload", workload != none.workload);
    ask("parallelism", plan.parallelism != none.parallelism);
    ask("schedule", plan.schedule != none.schedule);
    ask("placement", plan.placement != none.placement);
    ask("memory", plan.memory != none.memory);
    ask("wan", plan.wan != none.wan);
    ask("moe", plan.moe != none.moe);
    ask("heterogeneity", heterogeneity != none.heterogeneity);
    ask("profile", plan.profile.has_value());
    ask("layer_profiles", plan.layerProfiles.has_value());
    return names;
}

} // namespace trainyard
