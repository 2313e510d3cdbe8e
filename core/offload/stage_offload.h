#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What leaves one GPU of a stage for each micro-batch, segment by segment as its operations are cut (OffloadTimes). Plain
// values; made by planOffload, read by memory and metrics.

#include <vector>

namespace trainyard {

struct SegmentBytes {
    double offloaded = 0;          // stored after the forward, loaded before the backward
    double resident = 0;
    bool hasEmbedding = false, hasLayers = false, hasHead = false;
};

struct StageOffload {
    std::vector<std::vector<SegmentBytes>> chunks;   // in the order of the forward
    double offloaded = 0, offloadable = 0;           // bytes of a micro-batch, all chunks
    double writeRate = 0, readRate = 0;              // bytes/s of one GPU while its whole node moves
};

} // namespace trainyard
