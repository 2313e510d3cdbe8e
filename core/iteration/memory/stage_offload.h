#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What leaves one GPU of a stage for each micro-batch, segment by segment as its operations are cut (OffloadTimes).
// Plain values; made by planOffload, read by memory and metrics.

#include <vector>

namespace trainyard {

struct SegmentBytes {
    double offloaded = 0; // stored after the forward, loaded before the backward
    double resident = 0;
    double discarded = 0; // discarded after the forward, recomputed right before the backward
    bool hasEmbedding = false, hasLayers = false, hasHead = false;
    [[nodiscard]] double whole() const { return offloaded + resident + discarded; }
};

/// What a policy that looks at whole layers does with those of a stage; all zero where none does.
struct LayerFates {
    int kept = 0, swapped = 0, recomputed = 0; // MEMO's layers count as swapped
    double tokenShare = -1; // of MEMO, alpha
    double forwards = 0; // layers' worth of forwards that are recomputed for a micro-batch, ...
    bool sparesAttention = false; // ... the core of attention left out
    [[nodiscard]] bool isEmpty() const { return kept + swapped + recomputed == 0; }
};

struct StageOffload {
    std::vector<std::vector<SegmentBytes>> chunks; // in the order of the forward
    double offloaded = 0, offloadable = 0; // bytes of a micro-batch, all chunks
    double small = 0; // that would be offloadable too, in tensors of fewer elements than the plan asks for
    LayerFates fates;
};

} // namespace trainyard
