#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Front door of the room: jobs that share GPUs unit by unit, run on the one engine (timeline/dispatcher.h). A GPU
// chooses after all completions and arrivals of an instant, the lowest number first. Ties between jobs go to the job
// that has just run there, then to the order of the list. Pure but for the workspace.
//
// A job may be chosen when it has arrived, its host has let it in (higher priorities first, then in the order of the
// list, each that fits), it has a unit left and none runs or is picked. What remains of it on unequal GPUs counts by
// the mean of the kinds that may run it. Without a buffer a GPU loads when it has ended its unit and its store. With
// one the unit that was picked ahead is loaded as soon as engine, memory and the job's last store let it; of a job that
// runs there already the next shard's weights alone, whose input arises there. A unit starts when all that it needs
// fits beside what is still there.

#include "core/engine/timeline/simulator.h"
#include "core/facts/plan/jobs.h"
#include "core/systems/jobs/job_set.h"

#include <functional>

namespace trainyard {

/// Which unit goes where, for one that follows a list: of each GPU the jobs that it serves, a unit at a time.
/// [GPU]: jobs
using UnitOrder = std::vector<std::vector<std::uint32_t>>;
/// Which of the job's units each entry of an order means, counted over all mini-batches: a GPU waits until that is the
/// job's next one.
/// [GPU]
using UnitNumbers = std::vector<std::vector<std::int64_t>>;

struct JobRules {
    /// ShardedLrtf, Fifo or Random; ShardMilp follows `order`.
    JobScheduler scheduler = JobScheduler::ShardedLrtf;
    /// the first implies the second
    bool doubleBuffer = true, lookAhead = false;
    RemainingWork remaining = RemainingWork::Units;
    /// False: a GPU goes on with the job that it has begun until that has no unit left, and another GPU never takes it;
    /// what is on its way ahead may be another job's first weights. The states of a job of one shard, which all jobs
    /// should be then, lie there until it ends, and nothing of them returns before. An order says itself when a job
    /// leaves its GPU.
    bool spill = true;
    int seed = 1;
    UnitOrder order;
    /// as long as `order`, or empty: whichever unit of the job comes next
    UnitNumbers numbers;
    [[nodiscard]] bool looksAhead() const { return lookAhead || doubleBuffer; }
};

/// Of a plan, without an order.
[[nodiscard]] JobRules rulesOf(JobScheduler scheduler, const JobOptions &options);

struct JobTimes { // Nanoseconds from the start
    static constexpr Nanoseconds kNever = -1;
    /// of its first and its last unit
    Nanoseconds start = kNever, end = kNever;
    /// of its units
    Nanoseconds computing = 0;
    /// that it ran on, ascending
    std::vector<int> gpus;
    /// bytes
    double loaded = 0, stored = 0;
};

struct JobRun {
    /// Tracks of each GPU g (Track::stage): units (Stream::Compute), weights on their way to it (Stream::Load,
    /// WorkKind::WeightsToGpu) and back (Stream::Store, WorkKind::StatesToHost). Tag: mini-batch and shard; the class
    /// says the job.
    Timeline timeline;
    std::vector<JobTimes> jobs;
    /// [node]: bytes taken from then on
    std::vector<std::vector<MemoryStep>> hosts;
    /// [node]
    std::vector<double> hostPeaks;
};

/// Seconds that all units would take one after the other on the slowest GPUs, with all their transfers on the slowest
/// routes, from the last arrival on: no schedule is longer.
[[nodiscard]] double longestRun(const JobSet &set);

/// Jobs that can never run (neverRuns) are left out: their times stay kNever. Those without a node are dealt first.
/// Errors: Cancelled; OutOfRange where all of them may take longer than a timeline holds, or have more
/// units; Internal where a list (order)
/// leaves units that no GPU takes, naming the job.
[[nodiscard]] Expected<JobRun> runJobs(
    const JobSet &set, const JobRules &rules, SimulationWorkspace &workspace, std::stop_token stop = {});

} // namespace trainyard
