#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The shortest order of units by a mixed-integer programme, for comparison with what rules find (2107.06469, appendix:
// "a MILP solver"). Which unit begins when on which kind of GPU is a column of a programme over time steps; GPUs of a
// kind are capacity, units of a job a chain. What comes out is followed by runJobs (JobScheduler::ShardMilp) and is
// never longer than sharded-LRTF. docs/many-models.md, "The shortest order".

#include "core/base/solver/milp.h"
#include "core/systems/jobs/run_jobs.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace trainyard {

struct ShardMilpLimits {
    /// of the solver, all searches together
    double seconds = 10;
    /// of each search
    int nodes = 20000;
    /// of a programme; eight times as many where nothing is left to be taken as one
    std::size_t columns = 6000;
    /// MilpLimits::program
    std::string program = "cbc";
};

struct ShardMilpAnswer {
    /// For runJobs: those given, with the order that was found (ShardMilp), or else sharded-LRTF.
    JobRules rules;
    /// seconds, of that run
    double makespan = 0;
    /// seconds: sharded-LRTF's run
    double lrtf = 0;
    /// seconds; no schedule of these units is shorter, transfers not counted
    double bound = 0;
    /// makespan is the shortest: of units that need no transfers
    bool isProven = false;
    /// no order that was found is shorter than sharded-LRTF's own, which is the answer
    bool isLrtf = false;
    /// so many consecutive units of a job, at most, were taken as one
    std::int64_t unitsPerTask = 1;
    /// seconds of a time step; 0 where no programme was needed
    double grid = 0;
    /// units are no whole numbers of steps and were rounded up, so a programme proves nothing
    bool isRounded = false;
    /// no programme was solved: even whole jobs on a coarse grid are too many columns
    bool isTooLarge = false;
    /// a search came to no end within its limits
    bool isCutShort = false;
    /// taken into the units' times (unitSeconds), while the run has them as they are
    bool hasTransfers = false;
    /// of the largest programme
    std::size_t columns = 0;
    /// programmes that were solved
    int searches = 0;
};

/// `rules`: double buffers and what remains, for sharded-LRTF's run and for units' times; the scheduler is not read.
/// Jobs that can never run are left out. Priorities are not heeded, nor is room in host memory: where the order could
/// not run for want of it, sharded-LRTF's is the answer. Blocks; deterministic where nodes end the searches.
/// Errors: CannotRead where there is no solver and one is needed; Cancelled; those of runJobs.
[[nodiscard]] Expected<ShardMilpAnswer> shardMilp(const JobSet &set, const JobRules &rules,
    const ShardMilpLimits &limits, SimulationWorkspace &workspace, std::stop_token stop = {});

} // namespace trainyard
