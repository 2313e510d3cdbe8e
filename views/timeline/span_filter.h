#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which spans of a timeline are meant: by kind, job, micro-batch, stage and length. Made from the legend's switches and
// from what is typed into the search field; the chart fades what does not match. Plain value.

#include "core/engine/timeline/timeline.h"

#include <QString>

#include <optional>
#include <vector>

namespace trainyard {

inline constexpr std::uint32_t kAllKinds = (1u << kWorkKindCount) - 1;

struct SpanFilter {
    /// bit of each WorkKind
    std::uint32_t kinds = kAllKinds;
    /// -1: any; counted from 0
    int microBatch = -1;
    /// -1: any; counted from 0. Of jobs the number of a GPU
    int stage = -1;
    /// -1: any; counted from 0. Of jobs the shard
    int chunk = -1;
    /// -1: any; as classes say it
    int job = -1;
    /// duration
    Nanoseconds atLeast = 0;
    bool operator==(const SpanFilter &) const = default;

    [[nodiscard]] bool isNeutral() const { return *this == SpanFilter {}; }
    [[nodiscard]] bool hasKind(WorkKind kind) const { return (kinds >> int(kind)) & 1u; }
    /// True where something besides kind and stage decides, so that each span must be asked.
    [[nodiscard]] bool needsSpans() const { return microBatch >= 0 || chunk >= 0 || atLeast > 0; }
    [[nodiscard]] bool matchesTrack(const Track &track) const
    {
        return stage < 0 || track.stage == stage || track.toStage == stage;
    }
    /// Whether the class is of the kinds and the job that are meant.
    [[nodiscard]] bool matchesClass(const TaskClass &of) const
    {
        return hasKind(of.kind) && (job < 0 || of.job == std::uint32_t(job));
    }
    /// Micro-batch, chunk and duration only; kind, job and track are asked apart.
    [[nodiscard]] bool matchesSpan(const Timeline &timeline, std::uint32_t span) const
    {
        const bool isPair = timeline.kind[span] == WorkKind::ForwardBackward && !timeline.pairedMicroBatch.empty();
        return (microBatch < 0 || timeline.microBatch[span] == microBatch
                   || (isPair && timeline.pairedMicroBatch[span] == microBatch))
            && (chunk < 0 || timeline.chunk[span] == chunk) && timeline.end[span] - timeline.start[span] >= atLeast;
    }
    [[nodiscard]] bool matches(const Timeline &timeline, std::uint32_t span) const
    {
        return hasKind(timeline.kind[span]) && (job < 0 || timeline.classOf(span).job == std::uint32_t(job))
            && matchesTrack(timeline.tracks[timeline.trackOf[span]]) && matchesSpan(timeline, span);
    }
};

/// Reads what people type: "backward 12", "wan", "stage 3 recompute", "> 50 ms". Micro-batches and stages count from 1,
/// as on screen. Empty text is the neutral filter; words that mean nothing give no filter.
[[nodiscard]] std::optional<SpanFilter> parseSpanFilter(const QString &text);
/// The same of a plan with jobs: "bert, mini-batch 7", "gpu 3", "shard 2". A job is meant by its name or, where it is
/// all that was typed, by a part of it: the first that has it. `names`: of all jobs.
[[nodiscard]] std::optional<SpanFilter> parseSpanFilter(const QString &text, const std::vector<QString> &names);

/// Next matching span after `after` (kNoSpan: from the beginning) in order of start time, wrapping round; kNoSpan where
/// none matches. One pass over the spans.
[[nodiscard]] std::uint32_t nextMatch(const Timeline &timeline, const SpanFilter &filter, std::uint32_t after);
[[nodiscard]] std::uint32_t countMatches(const Timeline &timeline, const SpanFilter &filter);

} // namespace trainyard
