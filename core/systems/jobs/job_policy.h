#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which job a GPU takes the next unit of. A policy keeps the jobs that are free: there, unfinished, with no unit that
// runs or is picked. It is told of each that becomes free, and asked when a GPU chooses. Owned by one run.

#include "core/systems/jobs/jobs_under_way.h"

#include <memory>

namespace trainyard {

class JobPolicy {
public:
    virtual ~JobPolicy() = default;
    virtual void add(std::uint32_t job) = 0;
    /// The job that the GPU takes, which is free no more, or kNoJob. `last`: the job that has just run there, kNoJob at
    /// the beginning; with `isRunning` it runs there now and may go on.
    [[nodiscard]] virtual std::uint32_t take(std::uint32_t gpu, std::uint32_t last, bool isRunning) = 0;
};

/// Of jobs with the highest priority the one with the longest remaining work (ShardedLrtf), the first of the list
/// (Fifo), any (Random), or as JobRules::order says (ShardMilp, which has no priorities).
[[nodiscard]] std::unique_ptr<JobPolicy> makePolicy(
    const JobSet &set, const JobRules &rules, const JobsUnderWay &progress);

} // namespace trainyard
