#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Runs whole jobs on whole GPUs, on the one engine: a job that has arrived starts when its GPUs are free, those of
// higher priority first, then in the order of the list, and holds them together until it has ended. What waits keeps
// free GPUs that it needs from those behind it. Pure but for the workspaces.

#include "core/evaluation/evaluate/jobs/gang_jobs.h"
#include "core/systems/jobs/run_jobs.h"

namespace trainyard {

struct GangRun {
    /// its jobs, and those of classes of the timeline: indices into JobWorkloads::jobs
    JobRun run;
    /// [job]: how it ran; null where it did not
    std::vector<GangFormPtr> forms;
    Nanoseconds makespan = 0;
    /// share of all GPUs' time until then in which they compute
    double gpuUtilization = 0;
    int minibatchesPerSpan = 1;
    /// [GPU]: as Metrics has it
    std::vector<double> computeShare;
    /// [GPU]: at its fullest
    std::vector<StageMemory> memory;
    /// [GPU]
    std::vector<std::vector<MemoryStep>> memoryCurves;
    /// No schedule is shorter of jobs that run in forms of theirs. Shared: all computing over the GPUs of forms, each
    /// job in the form with the least, GPUs counted by their speed beside that. Longest: arrival and length of one
    /// job in its fastest form. Seconds.
    double boundShared = 0, boundLongest = 0;
};

/// Spans of one timeline, at most: then a span stands for several mini-batches.
inline constexpr double kMostGangSpans = 200'000;

/// `showsAll`: spans of each mini-batch as far as kMostGangSpans allows; false: one a job and GPU.
/// Errors: OutOfRange where all jobs in a row are longer than a timeline; those of run().
[[nodiscard]] ExpectedAll<GangRun> runGangs(const JobWorkloads &jobs, const std::vector<GangJob> &gangs, bool showsAll,
    const RunContext &context, SimulationWorkspace &workspace);

} // namespace trainyard
