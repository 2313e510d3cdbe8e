#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Bookkeeping of seats while a layout is made: how many replicas of a stage each pool can hold, and which are taken.
// A seat holds one replica of one stage: tensor x context GPUs of one pool, tensor groups whole within nodes.

#include "core/placement/resolve.h"

namespace trainyard {

struct PoolSeats {
    int datacenter = 0, pool = 0;
    int groupsPerNode = 0;         // tensor groups of one node
    int seats = 0, taken = 0;
};

class Seating {
public:
    explicit Seating(const Workload &workload);

    [[nodiscard]] int capacity(int datacenter) const;   // replicas of stages
    /// Seats `replicas` replicas of each of the stages [first, first + count) in a datacenter, stage by stage.
    void seat(int datacenter, int firstStage, int stages, int firstReplica, int replicas);
    /// Groups replicas that sit alike into classes, deals micro-batches, counts what is idle and why.
    [[nodiscard]] Layout finish(PlacementMode mode, int data) const;

private:
    struct Piece { int stage, firstReplica, replicas, poolIndex, firstSeat; };
    void addRuns(const Piece &piece, Layout &layout) const;
    void makeClasses(Layout &layout) const;
    void countIdle(Layout &layout) const;
    [[nodiscard]] std::string idleReason(const PoolSeats &seats, int idle, const Layout &layout) const;

    const Workload &m_workload;
    std::vector<PoolSeats> m_pools;
    std::vector<Piece> m_pieces;
};

/// Micro-batches of one iteration, all replicas together.
[[nodiscard]] int totalMicroBatches(const Plan &plan);

/// Of a placed plan, which could not run otherwise: no replica is without a micro-batch.
[[nodiscard]] bool everyReplicaHasWork(const Workload &workload);
/// And groups of experts divide the ranks of a stage.
[[nodiscard]] bool expertsDivideRanks(const Workload &workload);

} // namespace trainyard
