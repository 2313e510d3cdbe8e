#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What differs between two timelines, span by span where both plans have the same shape. A span is the same one in the
// other timeline where replica, stage, stream, micro-batch, chunk and kind of work are the same (and the job, of a plan
// with jobs); equal ones are matched in their order. Where the shapes differ no span is matched: GPU time by place and
// kind of work is compared, which is always there. Values, in whole nanoseconds; pure functions, any thread.
//
//   const TimelineDifference found = timelineDifference(*before, *after);
//   if (found.areMatched())
//       for (const SpanDifference &span : found.spans) …   // span.longer, span.shift
//   for (const KindDifference &kind : gpuTimeByKind(found)) …

#include "core/evaluation/evaluate/evaluation.h"

#include <array>
#include <limits>
#include <string>
#include <vector>

namespace trainyard {

/// GPUs times nanoseconds. Sums stop at 292 GPU years, the largest number.
using GpuNanoseconds = std::int64_t;

/// Part of an iteration, in nanoseconds from its start: from <= t < to.
struct TimeWindow {
    Nanoseconds from = 0, to = std::numeric_limits<Nanoseconds>::max();
    [[nodiscard]] bool isAll() const { return from <= 0 && to == std::numeric_limits<Nanoseconds>::max(); }
    bool operator==(const TimeWindow &) const = default;
};

enum class SpanChange : std::uint8_t { Came, Went, Longer, Shorter, Shifted };
inline constexpr int kSpanChangeCount = 5;
/// "came", "went", "longer", "shorter", "shifted"
[[nodiscard]] const char *toString(SpanChange change);

/// One span that is not the same in both, of replicas that are alike in both.
struct SpanDifference {
    /// span of the first and of the second timeline; kNoSpan where there is none
    std::uint32_t before = kNoSpan, after = kNoSpan;
    /// pipelines that it stands for
    std::int32_t firstReplica = 0, replicas = 1;
    /// ns, length after less length before, of one replica; the whole length of a span that came, negative of one that
    /// went
    Nanoseconds longer = 0;
    /// ns, start after less start before; 0 of one that came or went
    Nanoseconds shift = 0;

    /// A span whose length changed is longer or shorter wherever it starts; Shifted has its length and starts
    /// elsewhere.
    [[nodiscard]] SpanChange change() const
    {
        return before == kNoSpan ? SpanChange::Came
            : after == kNoSpan   ? SpanChange::Went
            : longer > 0         ? SpanChange::Longer
            : longer < 0         ? SpanChange::Shorter
                                 : SpanChange::Shifted;
    }
    bool operator==(const SpanDifference &) const = default;
};

/// Time that the GPUs of a place spend with work of a kind on a stream: lengths of its spans times the GPUs that they
/// stand for, those of all replicas. Streams run side by side, so that a GPU's times may add up to more than the
/// iteration.
struct GpuTimeDifference {
    /// "stage 3", "GPU 2" of a plan with jobs, "Virginia"; of a WAN transfer the sending one
    std::string place;
    /// from 0; -1 where places are datacenters
    int stage = -1;
    Stream stream = Stream::Compute;
    WorkKind kind = WorkKind::Forward;
    GpuNanoseconds before = 0, after = 0;
    [[nodiscard]] GpuNanoseconds difference() const { return after - before; }
    bool operator==(const GpuTimeDifference &) const = default;
};

struct KindDifference {
    WorkKind kind = WorkKind::Forward;
    GpuNanoseconds before = 0, after = 0;
    [[nodiscard]] GpuNanoseconds difference() const { return after - before; }
    bool operator==(const KindDifference &) const = default;
};

struct TimelineDifference {
    /// Empty: spans are matched. Else one sentence: "8 replicas instead of 4: spans are not matched, GPU time by stage
    /// and kind of work is compared"
    std::string whyNotMatched;
    /// Those that are the same in both are left out. By replica, stage and stream; those that came stand behind the
    /// others there. Empty where spans are not matched
    std::vector<SpanDifference> spans;
    /// of every place, stream and kind of work that either has, equal ones too, by place
    std::vector<GpuTimeDifference> gpuTime;
    /// of the two timelines
    Nanoseconds durationBefore = 0, durationAfter = 0;

    [[nodiscard]] bool areMatched() const { return whyNotMatched.empty(); }
    /// Nothing differs that was compared.
    [[nodiscard]] bool isEmpty() const;
};

/// Of a window: spans that reach into it before or after, and GPU time inside it. Linear in the spans, n log n where
/// their order on a track differs.
[[nodiscard]] TimelineDifference timelineDifference(
    const Evaluation &before, const Evaluation &after, const TimeWindow &window = {});

/// All places and streams together, in the order of the enum; kinds that neither has are left out.
[[nodiscard]] std::vector<KindDifference> gpuTimeByKind(const TimelineDifference &difference);

/// How many spans changed in each way, each counted once for every replica: [SpanChange].
[[nodiscard]] std::array<std::int64_t, kSpanChangeCount> countsByChange(const TimelineDifference &difference);

/// Indices of at most `most` of the spans: the largest change of length times replicas first, then the largest shift,
/// then as they stand.
[[nodiscard]] std::vector<std::size_t> largestSpans(const TimelineDifference &difference, std::size_t most);

/// The rows of GPU time that differ, at most `most`, the largest difference first.
[[nodiscard]] std::vector<GpuTimeDifference> largestGpuTimes(const TimelineDifference &difference, std::size_t most);

} // namespace trainyard
