#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The way of each GPU to what its activations are stored on: its PCIe link, a PCIe switch that it may share, and the
// drives of its node or its host memory. GPUs of one stage move at the same time and divide what they share evenly;
// stages that share a node or a switch are flows on one link. Plain values.

#include "core/iteration/placement/resolve.h"
#include "core/iteration/times/offload_times.h"

#include <vector>

namespace trainyard {

struct OffloadPaths {
    /// [class][stage]
    std::vector<std::vector<OffloadPath>> of;
    /// bytes/s; links are numbered from 0
    std::vector<double> linkCapacity;
};

/// What a GPU gets while all that share its links move at the same time: bytes/s out and in.
struct FairRates {
    double store = 0, load = 0;
};
/// [class][stage]
[[nodiscard]] std::vector<std::vector<FairRates>> fairRates(const OffloadPaths &paths);

/// A stage is where most of its GPUs are: one node of each class of pipelines stands for all. Caps are 0 where the pool
/// has no drives, or no way to them.
[[nodiscard]] OffloadPaths offloadPaths(const Workload &workload);

} // namespace trainyard
