#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The Gantt chart of one iteration as plain arrays: what ran where, from when to when. Made by the simulator, read by
// metrics and views, never changed afterwards (bubble filling and telemetry add tracks to a copy).
// Spans are numbered track by track, in order of start: track t owns spans [tracks[t].first, tracks[t].last).

#include "core/engine/timeline/work.h"

#include <vector>

namespace trainyard {

enum class Stream : std::uint8_t {
    Compute,
    Wan,
    Collective,
    Copy,
    Prefill,
    Store,
    Load, // activations that leave the GPU and return
    WeightsIn,
    GradientsOut, // layer by layer, of parameters and gradients that lie off the GPU
    StepToHost,
    StepDrive,
    StepCpu,
    StepGpu,
    StepToGpu, // of an optimizer step off the GPU
};
/// Rows of states off the GPU.
[[nodiscard]] constexpr bool isOfStates(Stream stream)
{
    return stream >= Stream::WeightsIn;
}

struct Track {
    Stream stream = Stream::Compute;
    int pipelineClass = 0; // index into Layout::classes; of a cell's channel its first member
    int stage = 0; // its stage; Prefill: shown is its first GPU, of the first pipeline. Wan: the sending stage
    int toStage = -1; // Wan: the receiving stage. Copy: where the pieces of a transfer go; its own stage: gathered
    int wanLink = -1; // Wan: index into Cluster::wanLinks
    std::uint32_t first = 0, last = 0;
};

struct Timeline {
    std::vector<Track> tracks; // datacenter-major order is the views' business
    std::vector<Nanoseconds> start, end;
    std::vector<WorkKind> kind;
    std::vector<std::uint32_t> taskClass; // index into `classes`, or kNoSpan: nothing more is known of it. May be empty
    std::vector<TaskClass> classes; // what the spans of a class do
    std::uint64_t classesVersion = 0; // of the table that they come from; 0 = unknown
    std::vector<std::int32_t> microBatch; // -1 where it has none
    std::vector<std::uint16_t> chunk; // virtual pipeline chunk on its stage
    // The backward of a ForwardBackward, whose forward the two above tell of; empty where there are none
    std::vector<std::int32_t> pairedMicroBatch;
    std::vector<std::uint16_t> pairedChunk;
    std::vector<std::uint32_t> cause; // span whose end (plus lag) set this start; kNoSpan at the beginning
    std::vector<std::uint32_t> trackOf; // span -> track
    std::vector<std::uint32_t> origin; // of a WAN transfer: the span whose result it carries; else kNoSpan.
                                       // Empty where there is no WAN track
    std::vector<double> moved; // of a span that was stopped, the share that it moved; else 1. Empty where none was
    /// 1: in vain. A load of what is still there, a store that nobody will read; it changes no memory. Empty where none
    /// is.
    std::vector<std::uint8_t> isVoid;
    std::uint64_t fingerprint = 0; // of the topology that gave tracks and labels; 0 = unknown or changed since
    Nanoseconds duration = 0; // from the first start to the last end; starts begin at 0

    [[nodiscard]] std::size_t spanCount() const { return start.size(); }
    [[nodiscard]] bool isEmpty() const { return start.empty(); }
    /// What the span does; nothing where its class is not known.
    [[nodiscard]] const TaskClass &classOf(std::uint32_t span) const
    {
        static constexpr TaskClass kUnknown {};
        const std::uint32_t index = taskClass.empty() ? kNoSpan : taskClass[span];
        return index < classes.size() ? classes[index] : kUnknown;
    }
    [[nodiscard]] bool isInVain(std::uint32_t span) const { return !isVoid.empty() && isVoid[span] != 0; }
    /// Bytes that the span moved: nothing of what it did in vain before it began, its part where it was stopped.
    [[nodiscard]] double bytesMoved(std::uint32_t span) const
    {
        if (isInVain(span) && start[span] == end[span] && (moved.empty() || moved[span] == 1))
            return 0;
        return classOf(span).bytes * (moved.empty() ? 1 : moved[span]);
    }
};

} // namespace trainyard
