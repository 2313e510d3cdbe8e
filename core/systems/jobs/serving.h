#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which GPUs may run which job: those of the datacenter of its host, with a way to that host, on which it has times and
// for which its largest unit is small enough, and of them those that it is pinned to. Pure functions.

#include "core/systems/jobs/job_set.h"

#include <cstdint>
#include <vector>

namespace trainyard {

/// Whether the set has a node of that number.
[[nodiscard]] inline bool isNode(const JobSet &set, int node)
{
    return node >= 0 && static_cast<std::size_t>(node) < set.nodes.size();
}

/// [GPU]: 1 where it may run units of the job while its host is that node.
[[nodiscard]] std::vector<std::uint8_t> servedBy(const JobSet &set, const JobSpec &job, int node);

/// Whether anything of the job's travels to a GPU, or back.
[[nodiscard]] bool loads(const JobSpec &job);
[[nodiscard]] bool stores(const JobSpec &job);
/// Whether the GPU has a way to the host of the node, both ways where both are needed.
[[nodiscard]] bool hasWay(const JobSet &set, bool loads, bool stores, std::size_t gpu, int node);

} // namespace trainyard
