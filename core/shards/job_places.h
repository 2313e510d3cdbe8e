#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// GPUs, hosts and the ways between them, of the cluster. A GPU reaches its own host at what a copy reaches of PCIe
// (pool.host, else the GPU's catalogue entry). Hydra knows one node; here a GPU of another node of the same datacenter
// reaches a host at the lesser of that and its share of the fabric, and all such GPUs together at what the NICs of the
// host's node carry each way, which are shared links where they can bind (our derivation). Between datacenters there is
// no way: shards would cross at every unit.

#include "core/shards/job_workloads.h"

namespace trainyard {

/// Fills GPUs, hosts and routes of the set and says where they are. `kinds`: a location of each kind of GPU.
/// Errors: OutOfRange where there are more ways than can be written down.
[[nodiscard]] Expected<std::vector<StageLocation>> addPlaces(JobWorkloads &jobs, const Workload &workload);

} // namespace trainyard
