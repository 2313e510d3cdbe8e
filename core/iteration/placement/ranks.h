#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Equal ranks are one set: the replicas of a stage on hardware that nothing tells apart. What is per rank is asked of
// its set, so that the fullest and the slowest set decide, and what its communication groups cost of their levels:
// inside one NVLink domain, inside the fabric of a datacenter, across datacenters. Ranks fill nodes in the order
// tensor, context, data.

#include "core/facts/catalogue/evidence.h"
#include "core/iteration/placement/expert_spread.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

enum class GroupKind : std::uint8_t { Tensor, Context, Expert, ExpertTensor, Data, ExpertData };

/// A group's ranks in one datacenter: `together` of them reach each other without the fabric, so do as many others, and
/// so on.
struct Levels {
    int ranks = 1, together = 1;
};

struct RankSet {
    StageLocation at;
    int stage = 0;
    int replicasHere =
        1; // of the stage's layers in this datacenter, those of other sets too: they reduce without the WAN
    /// consecutive GPUs that reach each other without the fabric: a node, a rack of NVLink
    int domain = 1;
    /// the smallest of those sets: one collective takes as long for all
    int reduceDomain = 1;
    int microBatch = 1;
    Degrees degrees;
    /// of the divided states on each; 0: an even one
    double stateShare = 0;
    /// of the group that is apart most
    ExpertSpread experts;
    /// of the replicas counted above, the least degree of tensor parallel; 0: its own
    int leastTensor = 0;

    /// Of the group of this kind that a rank of the set is in. Data: in its own datacenter, over context ranks too.
    [[nodiscard]] Levels levels(GroupKind kind) const;
    /// Degrees by which the largest shard is cut that takes part in what the set reduces and gathers with others: a
    /// collective over shards of several sizes takes as long as its largest (docs/model.md, "Mixed GPUs").
    [[nodiscard]] Degrees ofLargestShard() const;
};

/// Consecutive GPUs of the location that reach each other without the fabric: a node, a rack of NVLink.
[[nodiscard]] int domainOf(const Requested &asked, StageLocation location);
/// One stage of one class of pipelines.
[[nodiscard]] RankSet rankSet(const Workload &workload, const PipelineClass &pipelines, int stage);
/// Of the classes one for each kind of ranks that the stage has: GPU, node size, host and drives, degree of tensor
/// parallel, micro-batch, share of the states. And those ranks.
[[nodiscard]] std::vector<const PipelineClass *> unlikeClasses(const Workload &workload, int stage);
[[nodiscard]] std::vector<RankSet> unlikeSets(const Workload &workload, int stage);
/// Chunks of as many layers with the same ends, wherever in the model.
[[nodiscard]] bool areAsLarge(const StageChunk &a, const StageChunk &b);
/// Such chunks as the stage before has, in the same places: it computes, keeps for a micro-batch and reduces as much.
[[nodiscard]] bool isLikeStageBefore(const Workload &workload, int stage);
/// Whether nothing that work, memory or communication sees tells one location from the other; the price may.
[[nodiscard]] bool areAlike(const Requested &asked, StageLocation a, StageLocation b);
/// Nor what their ranks there have to do.
[[nodiscard]] bool areAlike(const Workload &workload, const PipelineClass &a, const PipelineClass &b, int stage);

/// Of the layout's tensor groups the one that is apart most.
[[nodiscard]] Levels tensorLevels(const Workload &workload);

/// The highest level of a data-parallel group: its ranks in one datacenter.
struct ReplicaSite {
    int datacenter = 0;
    /// of one of its replicas
    StageLocation location;
    /// that hold replicas of the stage
    int nodes = 0;
    /// replicas, times context ranks
    int ranks = 0;
    bool operator==(const ReplicaSite &) const = default;
};

/// In the order of the datacenters. Two stages that hold copies of the same layers count together.
[[nodiscard]] std::vector<ReplicaSite> replicaSites(const Workload &workload, int stage);
/// Ranks that share one set of states of a stage under ZeRO: those of one datacenter, the smallest that holds any.
[[nodiscard]] int stateShards(const Workload &workload, int stage);
/// One over the share of them that a rank of the set has: as many ranks, were it every rank's.
[[nodiscard]] double stateShards(const Workload &workload, const RankSet &ranks);

/// What two stages of a pipeline send over, in the class's pipeline that has it farthest. Node: also a rack of NVLink.
[[nodiscard]] Reach reachBetween(const Workload &workload, const PipelineClass &pipelines, int from, int to);

/// Tensor groups of one node of the location that send at the same time; a part of one that spans nodes.
[[nodiscard]] double groupsPerNode(const Workload &workload, StageLocation location);
/// Pipelines whose stages of this location share a node, and with it its node pairs.
[[nodiscard]] int pipelinesPerNode(const Workload &workload, StageLocation location);

/// Whether a datacenter's replicas train alone for some steps: local SGD, and whole pipelines in different datacenters.
[[nodiscard]] bool trainsLocally(const Workload &workload);

/// NCCL communicators that a GPU takes part in.
[[nodiscard]] int communicators(const Workload &workload);

} // namespace trainyard
