#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The Gantt chart of one iteration as plain arrays: what ran where, from when to when. Made by the simulator, read by
// metrics and views, never changed afterwards (bubble filling and telemetry add tracks to a copy).
// Spans are numbered track by track, in order of start: track t owns spans [tracks[t].first, tracks[t].last).

#include "core/base/units.h"

#include <cstdint>
#include <vector>

namespace trainyard {

enum class WorkKind : std::uint8_t {
    Forward, Backward, InputGrad, WeightGrad, Recompute,   // on a compute stream; Backward = input and weight gradients
    ForwardBackward,                                       // of two micro-batches at once, the communication of each under the other
    PipelineTransfer, WanTransfer,                         // a stage boundary, inside and between datacenters
    Collective,                                            // tensor, context or expert parallel, where drawn on its own
    GradientReduce, ParameterGather, Optimizer,
    OffloadStore, OffloadLoad, Prefill, Overhead,
    // States off the GPU (ZeRO-Offload, ZeRO-Infinity, Deep Optimizer States), beside or below a stage's own work
    GradientsToHost, StatesToHost, DriveRead, DriveWrite, CpuOptimizer, GpuOptimizer, StatesToGpu, WeightsToGpu,
};
inline constexpr int kWorkKindCount = 24;

/// "forward", "gradient sync" …: the name that tables, legends and exports show.
[[nodiscard]] const char *toString(WorkKind kind);
/// Work that keeps the GPU's compute units busy for training (recompute included, prefill not).
[[nodiscard]] bool isTrainingCompute(WorkKind kind);

enum class Stream : std::uint8_t {
    Compute, Wan, Collective, Copy, Prefill,
    Store, Load,                   // activations that leave the GPU and return
    WeightsIn, GradientsOut,       // layer by layer, of parameters and gradients that lie off the GPU
    StepToHost, StepDrive, StepCpu, StepGpu, StepToGpu,   // of an optimizer step off the GPU
};
/// Rows of states off the GPU.
[[nodiscard]] constexpr bool isOfStates(Stream stream) { return stream >= Stream::WeightsIn; }

struct Track {
    Stream stream = Stream::Compute;
    int pipelineClass = 0;         // index into Layout::classes; of a cell's channel its first member
    int stage = 0;                 // its stage; Prefill: shown is its first GPU, of the first pipeline. Wan: the sending stage
    int toStage = -1;              // Wan: the receiving stage. Copy: where the pieces of a transfer go; its own stage: gathered
    int wanLink = -1;              // Wan: index into Cluster::wanLinks
    std::uint32_t first = 0, last = 0;
};

inline constexpr std::uint32_t kNoSpan = 0xffffffffu;

struct Timeline {
    std::vector<Track> tracks;     // datacenter-major order is the views' business
    std::vector<Nanoseconds> start, end;
    std::vector<WorkKind> kind;
    std::vector<std::int32_t> microBatch;      // -1 where it has none
    std::vector<std::uint16_t> chunk;          // virtual pipeline chunk on its stage
    // The backward of a ForwardBackward, whose forward the two above tell of; empty where there are none
    std::vector<std::int32_t> pairedMicroBatch;
    std::vector<std::uint16_t> pairedChunk;
    std::vector<std::uint32_t> cause;          // span whose end (plus lag) set this start; kNoSpan at the beginning
    std::vector<std::uint32_t> trackOf;        // span -> track
    std::vector<std::uint32_t> origin;         // of a WAN transfer: the span whose result it carries; else kNoSpan.
                                               // Empty where there is no WAN track
    std::vector<double> moved;     // of a store of activations that ended early, the share that it wrote; else 1. Empty where none did
    std::uint64_t fingerprint = 0; // of the topology that gave tracks and labels; 0 = unknown or changed since
    Nanoseconds duration = 0;      // from the first start to the last end; starts begin at 0

    [[nodiscard]] std::size_t spanCount() const { return start.size(); }
    [[nodiscard]] bool isEmpty() const { return start.empty(); }
};

} // namespace trainyard
