#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The plans that one job may be run by where it has GPUs to itself: layers over GPUs with the whole batch at once
// (model parallel) or in micro-batches (GPipe, 1F1B), copies that share the batch, ZeRO-3 with states in host memory.
// Few of them: powers of two and all GPUs, divisors of the batch. Internal to core/evaluation/evaluate/jobs. Pure
// functions.

#include "core/evaluation/evaluate/jobs/gang_parts.h"

namespace trainyard {

struct GangPlan {
    /// that it takes, ascending
    GpuList gpus;
    /// index into GangPlans::parts
    int part = 0;
    /// of one mini-batch, on that part alone
    PlanPtr plan;
    /// "GPipe, 4 stages, 8 micro-batches"
    std::string name;
};

struct GangPlans {
    /// of each number of GPUs that is tried
    std::vector<ClusterPart> parts;
    /// in order of preference, where times are equal
    std::vector<GangPlan> plans;
    /// tried then: with all activations computed again
    std::vector<GangPlan> ifNoneFits;
};

/// How a job runs: as it asks, or as the scheduler does.
[[nodiscard]] JobTechnique techniqueOf(const Job &job, JobScheduler scheduler);

/// Of any of GpuLists. `model`: of the job. Not of data-parallel copies (copyPlans).
[[nodiscard]] GangPlans gangPlans(
    const JobWorkloads &jobs, const Job &job, const ModelSpec &model, JobTechnique technique);

/// The job whole on one GPU of each kind, and in as many copies on several GPUs as divide its batch, at most `most`.
[[nodiscard]] GangPlans copyPlans(const JobWorkloads &jobs, const Job &job, int most);

/// The divisors of a number, ascending; of very many the smallest, the largest and some between, at most `most`.
[[nodiscard]] std::vector<int> divisors(int number, std::size_t most);

} // namespace trainyard
