#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// GPUs of the cluster of a plan with jobs as clusters of their own, on which one job is evaluated as a plan. Internal
// to core/evaluation/evaluate/jobs. Pure functions of values.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/iteration/job_shards/job_workloads.h"

#include <vector>

namespace trainyard {

/// Of one datacenter, in the order of the cluster.
using GpuList = std::vector<int>;

struct ClusterPart {
    /// one datacenter; nodes of which not all GPUs are taken are smaller ones
    Cluster cluster;
    /// [pool of it]: which they are, node after node
    std::vector<GpuList> gpus;
};
/// `gpus`: at least one, ascending.
[[nodiscard]] ClusterPart clusterPart(const JobWorkloads &jobs, const GpuList &gpus);

/// Sets of GPUs that one job may run on, of those that it may use at all: of each datacenter and kind of GPU the node
/// with the most of them, of each kind all, and all of the datacenter. None twice; at most kMostGpuLists.
[[nodiscard]] std::vector<GpuList> gpuLists(const JobWorkloads &jobs, const Job &job);
inline constexpr std::size_t kMostGpuLists = 12;

/// All that a job may use, ascending: those that it is pinned to, or all.
[[nodiscard]] GpuList allowedGpus(const JobWorkloads &jobs, const Job &job);

/// Which stage of which class of pipelines each of some GPUs serves.
struct GangPlace {
    /// -1: it is idle
    int pipelineClass = -1, stage = -1;
};
/// Of an evaluation on a part: [GPU of `gpus`, which the part was made of].
[[nodiscard]] std::vector<GangPlace> placesOn(
    const Layout &layout, const ClusterPart &part, const GpuList &gpus, int context);

} // namespace trainyard
