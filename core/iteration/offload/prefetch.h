#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Whether activations that left are back in time: the loads of one backward alone on their way, asked for as the engine
// asks for them (core/iteration/graph/device_moves.h). What the adaptive amount must respect beside its bound on
// writing. Pure functions.

#include "core/base/units.h"

#include <vector>

namespace trainyard {

struct ReturningModule { // of one operation, in the order of the forward
    Bytes offloaded; // that left; 0: it stayed
    Seconds backward; // with its recomputation; the input gradient alone where the backward is split
    int group = 0; // modules of equal number are asked for together; falls towards the first
};

struct LoadWay {
    BytesPerSecond read; // of one GPU, while others of the node read beside it
    int ahead = 1; // groups
    Seconds handOver; // the module before the backward, during which its first groups are asked for
};

/// What the backward waits for: with t the time at which module i could run, its load ends at
///   max(end of the load before, start of the group `ahead` places before) + A_i / R
/// and the module starts at the later of both.
[[nodiscard]] Seconds loadStall(const std::vector<ReturningModule> &modules, const LoadWay &way);

} // namespace trainyard
