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
    std::vector<ShardCut> shards; // empty where it cannot run
    std::string why; // it cannot run: a layer is larger than a GPU; one sentence
    int specIndex = -1; // of JobSet::jobs; -1: paused, or it cannot run
    bool isMeasured = false; // its times are the plan's
};

struct JobWorkloads {
    PlanPtr plan;
    std::shared_ptr<const Workload> cluster; // of the first job: GPUs, prices and rates of every location
    JobSet set; // jobs dealt to hosts; without those that are paused or cannot run
    std::vector<JobWorkload> jobs;
    std::vector<StageLocation> gpus; // where each GPU of the set is, in the order of the cluster
    struct Node {
        int datacenter = 0, pool = 0, node = 0;
        double memory = 0; // bytes of its host; 0 where nobody states it
    };
    std::vector<Node> nodes; // of the set
    std::vector<char> leftOut; // [kind of GPU]: so small that jobs which could run there are done sooner without it
    int minibatchesPerSpan = 1; // units stand for up to so many mini-batches, where all would be too many (kMostUnits)
};

/// Units of one run, at most: a second or two of work, and some hundred megabytes of spans.
inline constexpr double kMostUnits = 1.6e6;

/// Errors: names that neither plan nor catalogue define, with their key (jobs[3].model); values that contradict each
/// other (unit_ms of 2K - 1 units for K shards that a GPU cannot hold).
[[nodiscard]] ExpectedAll<JobWorkloads> resolveJobs(const PlanPtr &plan, const Catalogue &catalogue);

} // namespace trainyard
