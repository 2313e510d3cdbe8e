#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What kinds of schedulers of jobs there are.

#include "core/facts/plan/jobs.h"

namespace trainyard {

/// Shards of all jobs share the GPUs; the others give whole GPUs to whole jobs.
[[nodiscard]] constexpr bool isByShards(JobScheduler scheduler)
{
    return scheduler <= JobScheduler::ShardMilp;
}

/// It takes seconds, which nobody waits for who has not asked for it.
[[nodiscard]] constexpr bool isSolver(JobScheduler scheduler)
{
    return scheduler == JobScheduler::ShardMilp || scheduler == JobScheduler::Milp;
}

} // namespace trainyard
