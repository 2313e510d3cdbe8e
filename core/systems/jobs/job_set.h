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
    WorkKind kind = WorkKind::Forward; // ForwardBackward: the last shard's; Backward
    // Bytes. Weights (with optimizer states, where the unit updates) have to be on the GPU before it starts, and return
    // to the host after it unless the next unit there is the job's next and uses the same shard: then what was to
    // return does so after that one, and what more the first had on the GPU (states) stays as long. What the unit
    // before it made comes from the host too, unless that ran on the same GPU right before it; what it makes itself
    // always goes to the host, where the backward pass finds it.
    double weights = 0, writeBack = 0;
    double input = 0, output = 0;
    double running = 0; // on the GPU while it computes: weights, input, output, activations, gradients
    double hostAfter = 0; // boundaries in host memory from its end on: taken (forward), or given back (negative)
    bool operator==(const JobUnit &) const = default;
};

struct JobSpec {
    std::string name; // for sentences alone
    std::vector<JobUnit> units; // 2K - 1
    std::vector<std::vector<double>> seconds; // [kind of GPU][unit]; empty: it cannot run there
    std::int64_t minibatches = 1; // all epochs
    double arrival = 0; // seconds
    double priority = 0; // higher ones go first
    std::vector<int> gpus; // that alone may run it, ascending; empty: any
    double hostBytes = 0; // in host memory while the job is there: all weights and states
    double hostBoundaries = 0; // and at most, of boundaries
    int node = -1; // whose host holds it; -1: to be dealt (dealJobs)
    // Where units stand for several mini-batches each (core/iteration/job_shards/coarse_units.h): so many, which move
    // as much more; `seconds` are those of all of them, `units` of one, as what is on a GPU or in a host is.
    double minibatchesPerUnit = 1;
    [[nodiscard]] double hostPeak() const { return hostBytes + hostBoundaries; }
    bool operator==(const JobSpec &) const = default;
};

struct JobGpu {
    int kind = 0; // equal GPUs have one
    int node = 0; // on whose host it is
    double memory = std::numeric_limits<double>::infinity(); // bytes for units
    bool operator==(const JobGpu &) const = default;
};

struct JobNode {
    int site = 0; // datacenter: a job is served by GPUs of its host's
    double memory = std::numeric_limits<double>::infinity(); // bytes of the host for jobs
    bool operator==(const JobNode &) const = default;
};

/// The way between a host and a GPU.
struct JobRoute {
    double toGpu = 0, toHost = 0; // bytes/s of a transfer alone; 0: there is none
    std::vector<std::uint32_t> linksToGpu, linksToHost; // shared ones, indices into JobSet::links
    bool operator==(const JobRoute &) const = default;
};

struct JobSet {
    std::vector<JobGpu> gpus;
    std::vector<JobNode> nodes;
    std::vector<double> links; // bytes/s of what several routes share; empty: nothing they share can be a bottleneck
    std::vector<JobRoute> routes;
    std::vector<std::vector<int>> routeOf; // [node][GPU]: index into routes, -1 where there is none. Empty: nothing is
                                           // known of ways, and jobs that move nothing need none
    bool isFullDuplex = true; // a GPU's transfers in both directions run at once
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
