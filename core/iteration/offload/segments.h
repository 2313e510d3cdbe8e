#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Cuts the operations of a virtual stage into segments: what leaves or is recomputed one module at a time, all
// between in one piece. Times as shares of the operation's, bytes as of the modules. Pure functions.

#include "core/iteration/memory/stage_offload.h"
#include "core/iteration/offload/modules.h"
#include "core/iteration/times/pipeline_costs.h"

namespace trainyard {

/// Consecutive modules as one segment.
struct OffloadPiece {
    SegmentBytes bytes;
    /// seconds, as shares of the operation's
    double forward = 0, backward = 0, recompute = 0;
    /// of the layers: what comes after never leaves
    bool isLast = false;
    int group = 0;
};

/// `group`: modules that are loaded together.
[[nodiscard]] std::vector<OffloadPiece> piecesOf(const std::vector<OffloadModule> &modules, bool isSplit, int group);

struct SegmentRule {
    /// input and weight gradients are operations of their own
    bool isSplit = false;
    /// While a module runs, one that left is on its way: the module after one that leaves waits until the one that left
    /// before it is out. Two rounding buffers, as MEMO and KARMA have.
    bool waitsForBuffers = false;
};
[[nodiscard]] std::vector<OffloadSegment> segmentsOf(
    const std::vector<OffloadPiece> &pieces, const OpTimes &times, const OffloadPath &path, SegmentRule rule);

} // namespace trainyard
