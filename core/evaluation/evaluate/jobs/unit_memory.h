#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What fills a GPU that runs units of jobs, at its fullest: the largest unit by its parts, and shards on their way to
// it and from it. Pure functions.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/iteration/job_shards/job_workloads.h"

namespace trainyard {

struct UnitOfJob {
    /// null: none
    const JobWorkload *job = nullptr;
    const JobUnit *unit = nullptr;
};

/// A GPU on which units hold so many bytes, `largest` among them; empty where they hold none.
[[nodiscard]] StageMemory memoryOfUnits(const JobWorkloads &jobs, int gpu, double bytes, const UnitOfJob &largest = {});

/// [GPU]: of those that ran on it by a timeline of JobWorkloads::jobs.
[[nodiscard]] std::vector<UnitOfJob> largestUnits(const JobWorkloads &jobs, const Timeline &timeline);

/// The most that a GPU may have to hold of the jobs that may run on it, and the largest unit of them.
struct MostUnits {
    double bytes = 0;
    UnitOfJob largest;
};
[[nodiscard]] MostUnits mostUnitsOn(const JobWorkloads &jobs, std::size_t gpu);

} // namespace trainyard
