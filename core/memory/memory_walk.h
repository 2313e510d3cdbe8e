#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The one walk that adds up what tasks take of a GPU's memory and give back: over the spans of a finished timeline, whatever
// decided their order, or over an order of work before anything has run. Peaks, curves, bytes moved and the parts of the fullest
// moment all come from it, so they agree.

#include "core/memory/op_memory.h"
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
    std::vector<MemoryStep> gpu, whole;   // curves of the bytes on the GPU and, where something leaves, if everything had stayed; empty
                                          // where nobody asked
    double peak = 0, peakWhole = 0;
    double mostAway = 0;           // bytes outside the GPU at once
    std::size_t fullest = 0;       // number of the change that reached the peak, for fullestMoment()
    bool isFromSpans = false;      // counted from a timeline, not from an order of work
    OffloadUse use;
};

/// Of a stage of a class of pipelines.
[[nodiscard]] LiveOverTime liveOverTime(const Timeline &timeline, int pipelineClass, int stage, bool keepsCurves);
/// What is held at its peak, part by part. `memory` is what told the tasks their bytes.
[[nodiscard]] LiveBytes fullestMoment(const LiveOverTime &live, const Timeline &timeline, int pipelineClass, int stage, const OpMemory &memory);

/// Of a device that goes through its order of work. With opportunistic forwards, the order in which it holds most: every forward
/// before the first gradient, but for the last device, which makes its gradients itself.
[[nodiscard]] LiveOverTime liveInOrder(const Program &program, int device, const OpMemory &memory, bool isRecomputing);
[[nodiscard]] LiveBytes fullestMoment(const LiveOverTime &live, const Program &program, int device, const OpMemory &memory, bool isRecomputing);

/// At least as much as any walk over the program finds, from the most micro-batches between forward and backward of each chunk: of
/// 1f1b and gpipe exactly that.
[[nodiscard]] double liveBound(const Program &program, int device, const OpMemory &memory);

} // namespace trainyard
