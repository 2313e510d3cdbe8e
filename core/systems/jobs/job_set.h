#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Many models on the same GPUs as numbers alone: units of work, how long each takes on each kind of GPU, what it needs
// there and what has to travel for it. Hydra (arXiv 2107.06469, 2110.08633) cuts a model into K shards; a mini-batch is
// 2K - 1 units in strict order: forward of shards 0 … K-2, forward and backward of shard K-1 as one, backward of K-2 …
// 0, each of which runs its forward again and updates its shard at once. No plan and no workload: whoever has one of
// those fills this in (core/iteration/job_shards). Plain values, any thread. docs/many-models.md.

#include "core/engine/timeline/work.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace trainyard {

struct JobUnit { // of each mini-batch, in order
    int shard = 0;
    /// ForwardBackward: the last shard's; Backward
    WorkKind kind = WorkKind::Forward;
    // Bytes. Weights (with optimizer states, where the unit updates) have to be on the GPU before it starts, and return
    // to the host after it unless the next unit there is the job's next and uses the same shard: then what was to
    // return does so after that one, and what more the first had on the GPU (states) stays as long. What the unit
    // before it made comes from the host too, unless that ran on the same GPU right before it; what it makes itself
    // always goes to the host, where the backward pass finds it.
    double weights = 0, writeBack = 0;
    double input = 0, output = 0;
    /// on the GPU while it computes: weights, input, output, activations, gradients
    double running = 0;
    /// boundaries in host memory from its end on: taken (forward), or given back (negative)
    double hostAfter = 0;
    bool operator==(const JobUnit &) const = default;
};

struct JobSpec {
    /// for sentences alone
    std::string name;
    /// 2K - 1
    std::vector<JobUnit> units;
    /// [kind of GPU][unit]; empty: it cannot run there
    std::vector<std::vector<double>> seconds;
    /// all epochs
    std::int64_t minibatches = 1;
    /// seconds
    double arrival = 0;
    /// higher ones go first
    double priority = 0;
    /// that alone may run it, ascending; empty: any
    std::vector<int> gpus;
    /// in host memory while the job is there: all weights and states
    double hostBytes = 0;
    /// and at most, of boundaries
    double hostBoundaries = 0;
    /// whose host holds it; -1: to be dealt (dealJobs)
    int node = -1;
    // Where units stand for several mini-batches each (core/iteration/job_shards/coarse_units.h): so many, which move
    // as much more; `seconds` are those of all of them, `units` of one, as what is on a GPU or in a host is.
    double minibatchesPerUnit = 1;
    [[nodiscard]] double hostPeak() const { return hostBytes + hostBoundaries; }
    bool operator==(const JobSpec &) const = default;
};

struct JobGpu {
    /// equal GPUs have one
    int kind = 0;
    /// on whose host it is
    int node = 0;
    /// bytes for units
    double memory = std::numeric_limits<double>::infinity();
    bool operator==(const JobGpu &) const = default;
};

struct JobNode {
    /// datacenter: a job is served by GPUs of its host's
    int site = 0;
    /// bytes of the host for jobs
    double memory = std::numeric_limits<double>::infinity();
    bool operator==(const JobNode &) const = default;
};

/// The way between a host and a GPU.
struct JobRoute {
    /// bytes/s of a transfer alone; 0: there is none
    double toGpu = 0, toHost = 0;
    /// shared ones, indices into JobSet::links
    std::vector<std::uint32_t> linksToGpu, linksToHost;
    bool operator==(const JobRoute &) const = default;
};

struct JobSet {
    std::vector<JobGpu> gpus;
    std::vector<JobNode> nodes;
    /// bytes/s of what several routes share; empty: nothing they share can be a bottleneck
    std::vector<double> links;
    std::vector<JobRoute> routes;
    /// [node][GPU]: index into routes, -1 where there is none. Empty: nothing is known of ways, and jobs that move
    /// nothing need none
    std::vector<std::vector<int>> routeOf;
    /// a GPU's transfers in both directions run at once
    bool isFullDuplex = true;
    std::vector<JobSpec> jobs;
    bool operator==(const JobSet &) const = default;
};

/// No schedule is shorter. Shared: all work over all GPUs that may run some of it; with unequal GPUs each unit on its
/// fastest and the GPUs counted by their speed beside that, at the unit that suits them best, which is no more.
/// Longest: arrival and work of one job, each unit on its fastest GPU. Transfers are not counted, nor jobs that never
/// run. Seconds.
struct JobBounds {
    double shared = 0, longest = 0;
    [[nodiscard]] double makespan() const { return shared > longest ? shared : longest; }
};
[[nodiscard]] JobBounds jobBounds(const JobSet &set);

/// Gives every job without a node one: pinned jobs where their GPUs are; the others, longest first, to the datacenter
/// that would have done with it first, and there to the host with the most room. Ties go to the first.
void dealJobs(JobSet &set);

/// Of a job, which can never run: the sentence that says why ("needs 310 GB of host memory, node 0 has 256"), or
/// nothing.
[[nodiscard]] std::string neverRuns(const JobSet &set, const JobSpec &job);

/// Seconds of one unit by the closed form of the specification (section 2): lambda = weights and input over the route,
/// upsilon = what goes back. Without a buffer lambda + t + upsilon; with one max(t, lambda + upsilon), or
/// max(t, lambda, upsilon) where both directions run at once.
[[nodiscard]] double unitSeconds(
    double compute, double lambda, double upsilon, bool isDoubleBuffered, bool isFullDuplex);

} // namespace trainyard
