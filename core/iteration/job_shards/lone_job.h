#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where one job runs that has the cluster to itself. It computes on one GPU at a time, so every way to run it is a kind
// of GPU, a host whose memory holds it, the way between them and a cut of its model: each is simulated, and the
// shortest is taken. Better hardware then makes none of the ways slower and adds ways, so that it never makes the job
// slower. docs/many-models.md, "One job alone".

#include "core/iteration/job_shards/shard_cuts.h"
#include "core/systems/jobs/run_jobs.h"

#include <functional>
#include <optional>

namespace trainyard {

/// A GPU and a host that serves it.
struct LonePlace {
    /// indices into JobSet::gpus and ::nodes
    int gpu = 0, node = 0;
    /// bytes/s between them, either way
    double rate = 0;
};

/// Every kind of GPU with every host that it may reach, each once: what tells them apart are kind, memory for units,
/// rate, and whether the host holds so many bytes. `pins`: GPUs that alone may be taken; empty: any.
[[nodiscard]] std::vector<LonePlace> lonePlaces(
    const JobWorkloads &jobs, const std::vector<int> &pins, const std::vector<CutKind> &kinds);

struct LoneJob {
    CutGroup group;
    /// all of the job for a cut of its model
    std::function<JobSpec(const ModelCut &cut)> specOf;
    std::vector<LonePlace> places;
};

struct LoneChoice {
    LonePlace place;
    ModelCut cut;
    /// from its first unit to its last
    double seconds = 0;
};

/// Nothing where no place can run it. The time of a job of many mini-batches is that of its first ones (some 400 units)
/// and as many more periods as are left, each as long as the mean of the later half.
[[nodiscard]] std::optional<LoneChoice> chooseLone(
    const LoneJob &job, const std::vector<CutKind> &kinds, const CutRules &rules, const JobSet &set, JobRules run);

/// Seconds of the one job of a set, likewise; infinite where it does not run.
[[nodiscard]] double loneSeconds(JobSet &set, const JobRules &run, SimulationWorkspace &workspace);

} // namespace trainyard
