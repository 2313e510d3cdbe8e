#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where lies what has left the GPUs: in the main memory of their nodes, or on drives. Equation in docs/model.md,
// "States off the GPU". Pure functions.

#include "core/facts/cluster/drives.h"
#include "core/iteration/memory/stage_bytes.h"
#include "core/iteration/placement/resolve.h"

#include <vector>

namespace trainyard {

/// What the fullest node of a pool keeps in main memory, bytes: the sum over its GPUs of states there, times the
/// framework's factor (1.5, DeepSpeed's estimator), and of activations at the moment when most are away.
struct HostMemory {
    int datacenter = 0, pool = 0;
    double states = 0, activations = 0;
    /// 0 where the pool states none: what is needed is taken as there
    double capacity = 0;
    [[nodiscard]] double total() const { return states + activations; }
    [[nodiscard]] bool isStated() const { return capacity > 0; }
    [[nodiscard]] bool fits() const { return !isStated() || total() <= capacity; }
};

/// Of each pool that serves a stage of a placed workload and keeps anything there. `stages` as stageMemory() gives
/// them.
[[nodiscard]] std::vector<HostMemory> hostMemory(const Workload &workload, const std::vector<StageMemory> &stages);

/// States are to lie on drives, and this pool that serves a stage has none.
[[nodiscard]] bool lacksDrives(const Plan &plan, const Pool &pool);
[[nodiscard]] bool lacksDrives(const Workload &workload);

} // namespace trainyard
