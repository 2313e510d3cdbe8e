#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where each track of a timeline lies on screen: datacenter › pipeline class › stage, WAN channels under the datacenter
// that sends, further streams of a stage below it when unfolded. Rows share the height that there is: tall where they
// are few, a few pixels where they are many. Pure functions of an evaluation and a few options; heights in logical
// pixels. Rows carry a stable key, so that pins and folds outlive a new evaluation.

#include "core/evaluation/evaluate/evaluation.h"
#include "models/measured_lanes.h"

#include <QSet>
#include <QString>

#include <vector>

namespace trainyard {

struct TrackRow {
    /// Summary: a folded datacenter, or the folded pipelines that differ from the first of it
    enum class Kind : std::uint8_t { Stage, Channel, Stream, Summary };
    Kind kind = Kind::Stage;
    int datacenter = 0;
    /// -1: of several
    int pipelineClass = -1, stage = -1;
    /// the first lies in front of the others; blended for a summary
    std::vector<std::uint32_t> tracks;
    /// rows of the run that lies under the plan, in the same way
    std::vector<std::uint32_t> measured;
    /// "stage 3", "16 pipelines": on one row of a run of stages that have it in common
    QString label, detail;
    QString key;
    bool isPinned = false;
    /// of pipelines that differ from the first of their datacenter
    bool isOther = false;
    /// a channel that several pipelines use one after the other
    bool hasTurns = false;
    /// from the top of the content; pinned rows have their own, from the top of the plot
    int y = 0;
    /// to the next row
    int pitch = 0;
    /// from y
    int barTop = 0, barHeight = 0;
    /// from y; 0 where no baseline is shown
    int ghostTop = 0, ghostHeight = 0;
    /// from y; 0 where nothing was measured
    int measuredTop = 0, measuredHeight = 0;
    bool operator==(const TrackRow &) const = default;
};

/// Rows that fold into one: those of a datacenter, or in one those of the pipelines that differ from its first.
struct RowGroup {
    int datacenter = 0;
    QString name;
    /// for folding
    QString key;
    bool isFolded = false;
    int y = 0, height = 0;
    /// of its first row's bar
    int nameHeight = 0;
    bool operator==(const RowGroup &) const = default;
};

struct TrackLayoutOptions {
    /// keys of groups
    QSet<QString> folded;
    /// of those that would be folded because they are many
    QSet<QString> unfolded;
    /// keys of rows
    QSet<QString> pinned;
    bool unfoldStreams = false;
    /// room for a baseline under each bar
    bool showGhost = false;
    /// room for what was measured under the bars that it answers to; null: none
    MeasuredLanesPtr measured;
    /// pixels from a name to what stands below it
    int line = 13;
    /// rows grow and shrink to fill it, within legible bounds
    int availableHeight = 300;
};

struct TrackLayout {
    /// pinned ones first
    std::vector<TrackRow> rows;
    std::vector<RowGroup> groups;
    /// in their order, of datacenters with pipelines that differ
    std::vector<RowGroup> others;
    /// the scrolling row of each track, -1 where it is folded away
    std::vector<int> rowOfTrack;
    int pinnedCount = 0;
    int pinnedHeight = 0, contentHeight = 0;
    bool operator==(const TrackLayout &) const = default;
};

[[nodiscard]] TrackLayout layOutTracks(const Evaluation &evaluation, const TrackLayoutOptions &options);

/// The layout without what lies on its rows: what their labels depend on.
[[nodiscard]] TrackLayout withoutTracks(TrackLayout layout);
/// Top of a row in the plot, `scroll` pixels down; pinned rows stay.
[[nodiscard]] int rowTop(const TrackLayout &layout, const TrackRow &row, int scroll);
/// Row under a plot coordinate, or -1.
[[nodiscard]] int rowAt(const TrackLayout &layout, int y, int scroll);
/// Track that a span lies on.
[[nodiscard]] inline const Track &trackOf(const Evaluation &evaluation, std::uint32_t span)
{
    return evaluation.timeline.tracks[evaluation.timeline.trackOf[span]];
}
/// Track of `timeline` that stands for the same stage or channel as `track` of another timeline, or -1.
[[nodiscard]] int sameTrack(const Timeline &timeline, const Track &track);
/// Name of a datacenter of the evaluation's plan; "datacenter 2" where the plan has none.
[[nodiscard]] QString datacenterName(const Evaluation &evaluation, int datacenter);
/// Datacenter that runs a stage of a pipeline class; 0 where the layout does not say.
[[nodiscard]] int datacenterOf(const Evaluation &evaluation, int pipelineClass, int stage);

} // namespace trainyard
