#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What micro-batches hold on one GPU over time where activations leave between forward and backward: the spans of the
// timeline turned into bytes, without what has left or was thrown away, and as if everything had stayed. Peaks, curves and
// the bytes moved all come from here, so they agree. Equations in docs/model.md, "Activation offload".

#include "core/memory/replay.h"
#include "core/offload/stage_offload.h"
#include "core/timeline/timeline.h"

#include <vector>

namespace trainyard {

/// Bytes of one GPU in one iteration. What was to leave = written + dropped; written = read + forwarded.
struct OffloadUse {
    double written = 0, read = 0;
    double forwarded = 0;          // written in vain: of tensors that were needed while their store ran, and taken from GPU memory
    double dropped = 0;            // never written: needed before the store began or, the rest of it, while it ran
};

struct LiveOverTime {
    struct Step { Nanoseconds time; double with, without; };   // from then on; bytes with offloading, and without
    std::vector<Step> steps;
    LiveBytes fullest;                  // at the highest point, and what was away then, as part of fullest.activations
    double peak = 0, peakWithout = 0;
    double mostOffloaded = 0;           // bytes outside the GPU at once
    OffloadUse use;
};

/// Of a stage of a class of pipelines. A segment counts from the end of its forward (the one with the loss from its start) to
/// the end of its backward, less the time from the end of its store to the start of its load; what is thrown away does not count
/// until its recomputation starts.
[[nodiscard]] LiveOverTime liveOverTime(const Timeline &timeline, int pipelineClass, int stage, const StageOffload &offload,
                                        const std::vector<ChunkMemory> &chunks, const Program &program, bool isRecomputing);

} // namespace trainyard
