#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What leaves one GPU of a stage for each micro-batch, segment by segment as its operations are cut (OffloadTimes).
// Plain values; made by planOffload, read by memory and metrics.

#include <vector>

namespace trainyard {

struct SegmentBytes {
    /// stored after the forward, loaded before the backward
    double offloaded = 0;
    double resident = 0;
    /// discarded after the forward, recomputed right before the backward
    double discarded = 0;
    bool hasEmbedding = false, hasLayers = false, hasHead = false;
    [[nodiscard]] double whole() const { return offloaded + resident + discarded; }
};

/// What a policy that looks at whole layers does with those of a stage; all zero where none does.
struct LayerFates {
    /// MEMO's layers count as swapped
    int kept = 0, swapped = 0, recomputed = 0;
    /// of MEMO, alpha
    double tokenShare = -1;
    /// layers' worth of forwards that are recomputed for a micro-batch, ...
    double forwards = 0;
    /// ... the core of attention left out
    bool sparesAttention = false;
    [[nodiscard]] bool isEmpty() const { return kept + swapped + recomputed == 0; }
};

struct StageOffload {
    /// in the order of the forward
    std::vector<std::vector<SegmentBytes>> chunks;
    /// bytes of a micro-batch, all chunks
    double offloaded = 0, offloadable = 0;
    /// that would be offloadable too, in tensors of fewer elements than the plan asks for
    double small = 0;
    LayerFates fates;
};

} // namespace trainyard
