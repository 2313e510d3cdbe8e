#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One stage plays its operations with a candidate of what leaves, beside the times that it keeps where every activation
// stays. An operation never begins before its time there, since its input or gradient is not here; where none ends
// later, nothing changes for any other stage, and the iteration takes exactly as long. Queues as in the engine
// (core/iteration/graph/device_moves.h): one of stores, one of loads, first come first served. Pure functions.

#include "core/iteration/graph/device_moves.h"
#include "core/iteration/memory/op_memory.h"
#include "core/iteration/offload/stage_script.h"

#include <optional>
#include <vector>

namespace trainyard {

struct Rehearsal {
    /// some operation ended later than `tolerance` of a backward after its time
    bool isLate = false;
    /// computation, stores and loads of the stage; empty where it was late or nobody asked
    Timeline timeline;
    /// work of this rehearsal
    std::size_t tasks = 0;
};

struct RehearsalRule {
    int ahead = 1;
    double tolerance = 1e-3;
    /// What the operations hold, to keep a timeline that memory can be counted from; nullptr: it is not kept.
    const OpMemory *memory = nullptr;
    /// of the stage, where there is `memory`
    std::optional<RecomputeState> kept;
};

/// `segments`: of each chunk, with times of moves at the rates that the stage can count on.
[[nodiscard]] Rehearsal rehearse(
    const StageScript &script, const std::vector<std::vector<OffloadSegment>> &segments, const RehearsalRule &rule);

} // namespace trainyard
