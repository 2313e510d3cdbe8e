#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// GPUs, hosts and the ways between them, of the cluster. A GPU reaches its own host at what a copy reaches of PCIe
// (pool.host, else the GPU's catalogue entry). Hydra knows one node. Of several in a datacenter each has jobs of its
// own, unless their fabric is fast enough: then a GPU of another node reaches a host at the lesser of PCIe and its
// share of the fabric, all such GPUs together at what the NICs of the host's node carry each way, which are shared
// links where they can bind (our derivation). Between datacenters there is no way: shards would cross at every unit.

#include "core/iteration/job_shards/job_workloads.h"

namespace trainyard {

/// Fills GPUs, hosts and, where shards share GPUs, their own ways; each node is a site of its own. Returns a location
/// of each kind of GPU. Errors: OutOfRange where there are more ways than can be looked at.
[[nodiscard]] Expected<std::vector<StageLocation>> addPlaces(JobWorkloads &jobs, const Requested &workload);

/// Bytes/s at which a GPU of that location reaches its own host, and hosts of other nodes.
struct HostRates {
    double own = 0, other = 0;
};
[[nodiscard]] HostRates hostRates(const Requested &workload, StageLocation at);

/// Bytes/s between a GPU and the host of a node elsewhere in its datacenter, were no other GPU at work.
[[nodiscard]] double fabricWay(const Requested &workload, StageLocation host, StageLocation gpu);

/// Makes one site of the datacenter, whose GPUs reach all its hosts.
void joinNodes(JobWorkloads &jobs, const Requested &workload, int datacenter);

} // namespace trainyard
