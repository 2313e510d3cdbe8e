#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the timeline shows at the moment: data, view and marks, as one plain value that TimelineView owns and its
// painters only read. Nothing here belongs to the plan, so nothing here is undone.

#include "models/job_spans.h"
#include "views/timeline/span_filter.h"
#include "views/timeline/time_axis.h"
#include "views/timeline/time_focus.h"
#include "views/timeline/track_layout.h"

#include <QRect>

#include <array>
#include <optional>

namespace trainyard {

struct AreaSelection {
    TimeInterval time;
    /// rows of the layout, inclusive
    int firstRow = 0, lastRow = 0;
};

struct TimelineState {
    EvaluationPtr evaluation, baseline;
    /// why the plan has no evaluation
    QString failure;
    bool isStale = false;
    TrackLayout layout;
    TimeInterval whole, range;
    /// pixels of the track area
    int scroll = 0;
    SpanFilter filter;
    /// empty for a plan without jobs
    JobSpans jobs;
    /// whose spans stand out, as Metrics::jobs counts them
    int job = JobSpans::kNone;
    /// over which a job hangs
    int dropGpu = -1;
    std::uint32_t hovered = kNoSpan, selected = kNoSpan;
    /// a run that lies under the plan; null: none
    RunOverlayPtr overlay;
    bool showsMeasured = true;
    /// its rows; null while they are not shown
    MeasuredLanesPtr measured;
    /// of measured->timeline
    std::uint32_t hoveredMeasured = kNoSpan, selectedMeasured = kNoSpan;
    std::array<std::optional<Nanoseconds>, 2> marks;
    /// time under the mouse
    std::optional<Nanoseconds> pointer;
    /// time under the mouse in a chart beside this one
    std::optional<Nanoseconds> cursor;
    std::optional<AreaSelection> area;
    bool showsCriticalPath = false;
    /// communication inside operations, along their feet
    bool showsInside = true;
    /// what of Why is pointed at; all else is faded
    std::optional<TimeFocus> focus;
    /// first to last; empty until asked for
    std::vector<std::uint32_t> criticalPath;
    /// spans that the selected one let start
    std::vector<std::uint32_t> effects;

    [[nodiscard]] const Timeline *timeline() const { return evaluation ? &evaluation->timeline : nullptr; }
    [[nodiscard]] bool isEmpty() const { return !evaluation || evaluation->timeline.isEmpty(); }
};

/// Regions of the chart widget, logical pixels: labels left, ruler above, tracks in the rest.
struct ChartGeometry {
    QRect gutter, ruler, tracks;
    [[nodiscard]] double x(const TimelineState &state, Nanoseconds t) const
    {
        return timeToX(t, state.range, tracks.left(), tracks.width());
    }
    [[nodiscard]] Nanoseconds time(const TimelineState &state, double x) const
    {
        return xToTime(x, state.range, tracks.left(), tracks.width());
    }
};

inline constexpr int kRulerHeight = 22;

[[nodiscard]] ChartGeometry chartGeometry(QSize size, int gutterWidth);
/// Span under a point of the chart, or kNoSpan; within a few pixels of thin bars.
[[nodiscard]] std::uint32_t spanUnder(const TimelineState &state, const ChartGeometry &geometry, QPoint point);
/// Row whose measured lane is under a point, or -1.
[[nodiscard]] int measuredRowUnder(const TimelineState &state, const ChartGeometry &geometry, QPoint point);
/// Measured span under a point, or kNoSpan; within a few pixels of thin bars.
[[nodiscard]] std::uint32_t measuredUnder(const TimelineState &state, const ChartGeometry &geometry, QPoint point);
/// Row of the layout, not a pinned one, that shows a measured span; -1: none does.
[[nodiscard]] int rowOfMeasured(const TimelineState &state, std::uint32_t span);
/// Where a measured span is drawn, as spanRect().
[[nodiscard]] QRectF measuredRect(const TimelineState &state, const ChartGeometry &geometry, std::uint32_t span);
/// Wait under a point that the focus points at, a mark of it, or kNoSpan.
[[nodiscard]] std::uint32_t waitUnder(const TimelineState &state, const ChartGeometry &geometry, QPoint point);
/// Where a span is drawn (cut to the chart's width, at least one pixel wide); empty where its row is folded away.
[[nodiscard]] QRectF spanRect(const TimelineState &state, const ChartGeometry &geometry, std::uint32_t span);

} // namespace trainyard
