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
    /// activations that return; of a Store: that leave the GPU
    Load,
    WeightsIn,
    /// WeightsIn, GradientsOut: copies, layer by layer, of weights and gradients that are kept off the GPU
    GradientsOut,
    StepToHost,
    StepDrive,
    StepCpu,
    StepGpu,
    /// StepToHost to StepToGpu: the parts of an optimizer step that runs off the GPU
    StepToGpu,
};
/// Whether the stream is a row of states that are kept off the GPU.
[[nodiscard]] constexpr bool isOfStates(Stream stream)
{
    return stream >= Stream::WeightsIn;
}

struct Track {
    Stream stream = Stream::Compute;
    /// index into Layout::classes; for a channel that a cell shares, the class of the cell's first member
    int pipelineClass = 0;
    /// the stage. Prefill: the stage of the first GPU of the first pipeline, which stands for all. Wan: the sending
    /// stage
    int stage = 0;
    /// Wan: the receiving stage. Copy: the stage that the pieces of a transfer go to; equal to `stage` where they are
    /// gathered
    int toStage = -1;
    /// Wan: index into Cluster::wanLinks
    int wanLink = -1;
    std::uint32_t first = 0, last = 0;
};

struct Timeline {
    /// datacenter-major order is the views' business
    std::vector<Track> tracks;
    std::vector<Nanoseconds> start, end;
    std::vector<WorkKind> kind;
    /// index into `classes`, or kNoSpan: nothing more is known of it. May be empty
    std::vector<std::uint32_t> taskClass;
    /// what the spans of a class do
    std::vector<TaskClass> classes;
    /// of the table that they come from; 0 = unknown
    std::uint64_t classesVersion = 0;
    /// -1 where it has none
    std::vector<std::int32_t> microBatch;
    /// virtual pipeline chunk on its stage
    std::vector<std::uint16_t> chunk;
    // For a span that is a ForwardBackward, micro-batch and chunk of its backward; those of its forward are above.
    // Empty where no span is one
    std::vector<std::int32_t> pairedMicroBatch;
    std::vector<std::uint16_t> pairedChunk;
    /// span whose end (plus lag) set this start; kNoSpan at the beginning
    std::vector<std::uint32_t> cause;
    /// span -> track
    std::vector<std::uint32_t> trackOf;
    /// of a WAN transfer: the span whose result it carries; else kNoSpan. Empty where there is no WAN track
    std::vector<std::uint32_t> origin;
    /// share of its bytes that the span moved: below 1 where it was stopped. Empty where no span was
    std::vector<double> moved;
    /// 1: the span was in vain (a load of what is still on the GPU, a store that nobody reads) and changes no memory.
    /// Empty where no span was.
    std::vector<std::uint8_t> isVoid;
    /// of the topology that gave tracks and labels; 0 = unknown or changed since
    std::uint64_t fingerprint = 0;
    /// from the first start to the last end; starts begin at 0
    Nanoseconds duration = 0;

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
    /// Bytes that the span moved: 0 where it was cancelled before it began, the part moved so far where it was stopped.
    [[nodiscard]] double bytesMoved(std::uint32_t span) const
    {
        if (isInVain(span) && start[span] == end[span] && (moved.empty() || moved[span] == 1))
            return 0;
        return classOf(span).bytes * (moved.empty() ? 1 : moved[span]);
    }
};

} // namespace trainyard
