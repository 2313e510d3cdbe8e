#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Whether activations that left are back in time: the loads of one backward alone on their way, asked for as the engine
// asks for them (core/iteration/graph/device_moves.h). What the adaptive amount must respect beside its bound on
// writing. Pure functions.

#include "core/base/units.h"

#include <vector>

namespace trainyard {

struct ReturningModule { // of one operation, in the order of the forward
    /// that left; 0: it stayed
    Bytes offloaded;
    /// with its recomputation; the input gradient alone where the backward is split
    Seconds backward;
    /// modules of equal number are asked for together; falls towards the first
    int group = 0;
};

struct LoadWay {
    /// of one GPU, while others of the node read beside it
    BytesPerSecond read;
    /// groups
    int ahead = 1;
    /// the module before the backward, during which its first groups are asked for
    Seconds handOver;
};

/// What the backward waits for: with t the time at which module i could run, its load ends at
///   max(end of the load before, start of the group `ahead` places before) + A_i / R
/// and the module starts at the later of both.
[[nodiscard]] Seconds loadStall(const std::vector<ReturningModule> &modules, const LoadWay &way);

} // namespace trainyard
