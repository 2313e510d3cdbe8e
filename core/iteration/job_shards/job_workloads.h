#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Front door of the room: the jobs of a plan as work for core/systems/jobs. Each job is resolved like a plan of its own
// on one GPU, so that times, bytes and FLOPs of its layers come from the same cost model as everything else; its model
// is cut into shards by the memory of the smallest GPU of its host's that may run it (Hydra's pilot run, in closed
// form, docs/many-models.md); GPUs, hosts and the ways between them are those of the cluster.

#include "core/facts/catalogue/catalogue.h"
#include "core/iteration/placement/resolve.h"
#include "core/systems/jobs/job_set.h"

#include <memory>

namespace trainyard {

/// What a shard takes: layers of the model, the embedding before the first of them and the head behind the last.
struct ShardCut {
    int firstLayer = 0, layers = 0;
    bool hasEmbedding = false, hasHead = false;
    double parameters = 0;
};

struct JobWorkload { // one of allJobs()
    Job job;
    ModelSpec model;
    /// empty where it cannot run
    std::vector<ShardCut> shards;
    /// it cannot run: a layer is larger than a GPU; one sentence
    std::string why;
    /// of JobSet::jobs; -1: paused, or it cannot run
    int specIndex = -1;
    /// its times are the plan's
    bool isMeasured = false;
};

struct JobWorkloads {
    PlanPtr plan;
    /// of the first job: GPUs, prices and rates of every location
    std::shared_ptr<const Requested> cluster;
    /// jobs dealt to hosts; without those that are paused or cannot run
    JobSet set;
    std::vector<JobWorkload> jobs;
    /// where each GPU of the set is, in the order of the cluster
    std::vector<StageLocation> gpus;
    struct Node {
        int datacenter = 0, pool = 0, node = 0;
        /// bytes of its host; 0 where nobody states it
        double memory = 0;
    };
    /// of the set
    std::vector<Node> nodes;
    /// [kind of GPU]: so small that jobs which could run there are done sooner without it
    std::vector<char> leftOut;
    /// units stand for up to so many mini-batches, where all would be too many (kMostUnits)
    int minibatchesPerSpan = 1;
};

/// Units of one run, at most: a second or two of work, and some hundred megabytes of spans.
inline constexpr double kMostUnits = 1.6e6;

/// Errors: names that neither plan nor catalogue define, with their key (jobs[3].model); values that contradict each
/// other (unit_ms of 2K - 1 units for K shards that a GPU cannot hold).
[[nodiscard]] ExpectedAll<JobWorkloads> resolveJobs(const PlanPtr &plan, const Catalogue &catalogue);

} // namespace trainyard
