#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Bookkeeping of locations while a layout is made: how many replicas of a stage each pool can hold, and which are
// taken. A location holds one replica of one stage: tensor x context GPUs of one pool. Tensor groups lie within nodes;
// where nodes hold fewer than the plan needs they also span whole nodes of a pool, since their collectives then cross
// the fabric. GPUs whose tensor parallel degree is pinned have locations of their own.

#include "core/iteration/placement/pool_parts.h"
#include "core/iteration/placement/resolve.h"

#include <optional>
#include <span>

namespace trainyard {

/// Of a pool's GPUs that have one tensor parallel degree.
struct PoolLocations {
    PoolPart part;
    /// tensor groups of one node
    int groupsPerNode = 0;
    /// of a group that spans nodes; 0: none does
    int nodesPerGroup = 0;
    /// GPUs before the part's first whole node, and tensor groups of them
    int besideNodes = 0, groupsBeside = 0;
    int locations = 0, taken = 0;

    [[nodiscard]] bool holdsGroups() const { return groupsPerNode > 0 || nodesPerGroup > 0; }
    /// The first GPU of a tensor group, and how many groups follow on it without a gap, itself counted.
    [[nodiscard]] int firstGpu(int group, int gpusPerNode) const;
    [[nodiscard]] int groupsFrom(int group, int gpusPerNode) const;
};

class LocationBook {
public:
    explicit LocationBook(const Requested &asked);

    /// From here on pools are filled fastest first, by the peak of a GPU at the plan's precision, instead of in the
    /// order of the plan; equal ones stay in it.
    void preferFastest();
    /// GPUs that are left over say that a replica more is no better, instead of what it would need.
    void leaveRoom() { m_leavesRoom = true; }
    /// replicas of stages
    [[nodiscard]] int capacity(int datacenter) const;
    /// its nodes, alone or several together
    [[nodiscard]] bool holdsGroups(int datacenter, int pool) const;
    /// of all datacenters
    [[nodiscard]] std::int64_t capacity() const;
    /// of all locations
    [[nodiscard]] std::int64_t usableGpus() const;
    /// Locations `replicas` replicas of each of the stages [first, first + count) in a datacenter, stage by stage.
    /// Where GPUs have tensor parallel degrees of their own, first as many replicas as lie there with all these stages.
    void place(int datacenter, int firstStage, int stages, int firstReplica, int replicas);
    /// Groups replicas that sit alike into classes, deals micro-batches, counts what is idle and why.
    [[nodiscard]] Layout finish(PlacementMode mode, int data) const;

private:
    class Reach;
    struct Piece {
        int stage, firstReplica, replicas, poolIndex, firstLocation;
    };
    void take(std::size_t pool, int stage, int firstReplica, int replicas);
    void addRuns(const Piece &piece, Layout &layout) const;
    void makeClasses(Layout &layout) const;
    void countIdle(Layout &layout) const;
    [[nodiscard]] std::span<const PoolLocations> poolsOf(int datacenter) const;
    [[nodiscard]] int usableGpus(int datacenter) const;
    /// `usable`: GPUs of all locations of its datacenter.
    [[nodiscard]] std::string idleReason(
        const PoolLocations &locations, int idle, int usable, const Layout &layout) const;
    [[nodiscard]] std::string noMoreReplicas(const Layout &layout) const;

    const Requested &m_asked;
    /// not every part has the plan's degree
    bool m_isMixed = false;
    bool m_leavesRoom = false;
    /// in the order of datacenters
    std::vector<PoolLocations> m_pools;
    std::vector<Piece> m_pieces;
};

/// Micro-batches of one iteration, all replicas together.
[[nodiscard]] int totalMicroBatches(const Plan &plan);

/// Of a placed plan, which could not run otherwise: no replica is without a micro-batch.
[[nodiscard]] bool everyReplicaHasWork(const Workload &workload);
/// And groups of experts divide the ranks of a stage; WAN links join the datacenters that one lies in
/// (unlinkedExperts), and none of them has part of the ranks of an expert alone (cutExperts).
[[nodiscard]] bool expertsDivideRanks(const Workload &workload);

/// All of the above: a placed plan has a shape that can run.
[[nodiscard]] bool hasRunnableShape(const Workload &workload);

/// Two datacenters with replicas of one stage whose gradients nobody told the size of: measured stage times say nothing
/// of parameters. Inside a datacenter the times include the exchange; over the WAN it would cost nothing.
struct UnsizedGradients {
    int from = 0, to = 0;
};
[[nodiscard]] std::optional<UnsizedGradients> unsizedGradients(const Workload &workload);
/// Work and states are shared out to unequal GPUs, if not all of it as asked: then `shares.why` says what stays even.
[[nodiscard]] bool isDealt(const Workload &workload);

} // namespace trainyard
