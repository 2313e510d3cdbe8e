#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which spans of a timeline are meant: by kind, micro-batch, stage and length. Made from the legend's switches and from
// what is typed into the search field; the chart fades what does not match. Plain value.

#include "core/timeline/timeline.h"

#include <QString>

#include <optional>

namespace trainyard {

inline constexpr std::uint32_t kAllKinds = (1u << kWorkKindCount) - 1;

struct SpanFilter {
    std::uint32_t kinds = kAllKinds; // bit of each WorkKind
    int microBatch = -1; // -1: any; counted from 0
    int stage = -1; // -1: any; counted from 0
    Nanoseconds atLeast = 0; // duration
    bool operator==(const SpanFilter &) const = default;

    [[nodiscard]] bool isNeutral() const { return *this == SpanFilter {}; }
    [[nodiscard]] bool hasKind(WorkKind kind) const { return (kinds >> int(kind)) & 1u; }
    /// True where something besides kind and stage decides, so that each span must be asked.
    [[nodiscard]] bool needsSpans() const { return microBatch >= 0 || atLeast > 0; }
    [[nodiscard]] bool matchesTrack(const Track &track) const
    {
        return stage < 0 || track.stage == stage || track.toStage == stage;
    }
    /// Micro-batch and duration only; kind and track are asked apart.
    [[nodiscard]] bool matchesSpan(const Timeline &timeline, std::uint32_t span) const
    {
        const bool isPair = timeline.kind[span] == WorkKind::ForwardBackward;
        return (microBatch < 0 || timeline.microBatch[span] == microBatch
                   || (isPair && timeline.pairedMicroBatch[span] == microBatch))
            && timeline.end[span] - timeline.start[span] >= atLeast;
    }
    [[nodiscard]] bool matches(const Timeline &timeline, std::uint32_t span) const
    {
        return hasKind(timeline.kind[span]) && matchesTrack(timeline.tracks[timeline.trackOf[span]])
            && matchesSpan(timeline, span);
    }
};

/// Reads what people type: "backward 12", "wan", "stage 3 recompute", "> 50 ms". Micro-batches and stages count from 1,
/// as on screen. Empty text is the neutral filter; words that mean nothing give no filter.
[[nodiscard]] std::optional<SpanFilter> parseSpanFilter(const QString &text);

/// Next matching span after `after` (kNoSpan: from the beginning) in order of start time, wrapping round; kNoSpan where
/// none matches. One pass over the spans.
[[nodiscard]] std::uint32_t nextMatch(const Timeline &timeline, const SpanFilter &filter, std::uint32_t after);
[[nodiscard]] std::uint32_t countMatches(const Timeline &timeline, const SpanFilter &filter);

} // namespace trainyard
