#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What is asked of schedulers of jobs in many places.

#include "core/plan/jobs.h"

namespace trainyard {

/// Whether shards of all jobs share the GPUs under it.
[[nodiscard]] constexpr bool isByShards(JobScheduler scheduler)
{
    return scheduler <= JobScheduler::ShardMilp;
}

/// Whether a solver takes time for it before anything runs.
[[nodiscard]] constexpr bool isSolver(JobScheduler scheduler)
{
    return scheduler == JobScheduler::ShardMilp || scheduler == JobScheduler::Milp;
}

} // namespace trainyard
