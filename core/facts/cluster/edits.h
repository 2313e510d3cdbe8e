#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Edits of the hardware: each takes a cluster and returns the next one. Equal pools of a datacenter merge; a pool
// splits where only some of its nodes or GPUs move. Ids stay unique and stable where they can.

#include "core/base/error.h"
#include "core/facts/plan/plan.h"

namespace trainyard {

struct GpuSelection { // consecutive GPUs of one pool
    int datacenter = 0, pool = 0;
    /// GPU g sits in node g / gpusPerNode
    int firstGpu = 0, gpus = 0;
    bool operator==(const GpuSelection &) const = default;
};

/// Moves GPUs to another datacenter. Whole nodes stay whole; a part of a node becomes a node of its own (nodes: 1,
/// gpus_per_node: k) and the rest of that node another. Moving to the same datacenter gives an equal cluster.
/// Errors: BadValue where the selection or the target does not exist.
[[nodiscard]] Expected<Cluster> moveGpus(const Cluster &cluster, const GpuSelection &what, int toDatacenter);
/// Moves `gpus` GPUs (whole nodes first) out of whatever pools of a datacenter, last pools first: "move 16 GPUs".
[[nodiscard]] Expected<Cluster> moveGpus(const Cluster &cluster, int fromDatacenter, int gpus, int toDatacenter);

/// id is made unique
[[nodiscard]] Cluster withDatacenter(const Cluster &cluster, Datacenter added);
/// its links go too
[[nodiscard]] Expected<Cluster> withoutDatacenter(const Cluster &cluster, int datacenter);
[[nodiscard]] Expected<Cluster> withPool(const Cluster &cluster, int datacenter, Pool added);
[[nodiscard]] Expected<Cluster> withoutPool(const Cluster &cluster, int datacenter, int pool);
/// replaces one of the same pair
[[nodiscard]] Expected<Cluster> withWanLink(const Cluster &cluster, WanLink link);
[[nodiscard]] Expected<Cluster> withoutWanLink(const Cluster &cluster, int link);

/// The first so many GPUs in the order of the cluster (datacenters, pools, nodes): whole nodes, and at most one of
/// which a part is left. Pools that are left with none go, datacenters stay.
[[nodiscard]] Cluster withFirstGpus(const Cluster &cluster, int gpus);
/// One GPU more in the last node of a pool, which is a pool of its own then where the pool has more nodes.
/// Errors: BadValue where there is no such pool, or it has no nodes.
[[nodiscard]] Expected<Cluster> withOneGpuMore(const Cluster &cluster, int datacenter, int pool);

} // namespace trainyard
