// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/timeline_state.h"

#include "core/engine/timeline/analysis.h"

#include <algorithm>

namespace trainyard {

namespace {
constexpr int kRightMargin = 12;
constexpr double kReach = 3; // pixels beside a thin bar that still mean it

/// Span of a track under a pixel: the one there, else the nearest within reach, at `distance`. kNoSpan: none.
std::uint32_t nearest(const TimelineState &state, const ChartGeometry &geometry, const Timeline &timeline,
    std::uint32_t track, int x, Nanoseconds &distance)
{
    const Nanoseconds from = geometry.time(state, x - kReach), at = geometry.time(state, x + 0.5);
    const Nanoseconds to = geometry.time(state, x + kReach) + 1;
    const std::uint32_t exact = spanAt(timeline, track, at);
    if (exact != kNoSpan) {
        distance = 0;
        return exact;
    }
    std::uint32_t best = kNoSpan;
    for (std::uint32_t i = firstSpanAfter(timeline, track, from);
         i < timeline.tracks[track].last && timeline.start[i] < to; ++i) {
        const Nanoseconds away = std::max(timeline.start[i] - at, at - timeline.end[i]);
        if (timeline.end[i] > from && away < distance)
            distance = away, best = i;
    }
    return best;
}

/// Whether a point in a row is on what was measured, not on the plan.
bool isOnMeasured(const TimelineState &state, const ChartGeometry &geometry, int index, QPoint point)
{
    const TrackRow &row = state.layout.rows[std::size_t(index)];
    return state.measured && row.measuredHeight > 0
        && point.y() - geometry.tracks.top() - rowTop(state.layout, row, state.scroll) >= row.measuredTop;
}

/// A bar between two times on a lane of a row, cut to the chart's width.
QRectF barRect(const TimelineState &state, const ChartGeometry &geometry, const TrackRow &row, TimeInterval time,
    int top, int height)
{
    const double left = geometry.tracks.left(), right = geometry.tracks.right() + 1.0;
    const double x0 = std::clamp(geometry.x(state, time.begin), left - 8, right + 8);
    const double x1 = std::clamp(geometry.x(state, time.end), left - 8, right + 8);
    return { x0, double(geometry.tracks.top() + rowTop(state.layout, row, state.scroll) + top), std::max(1.0, x1 - x0),
        double(height) };
}
} // namespace

ChartGeometry chartGeometry(QSize size, int gutterWidth)
{
    const int width = std::max(1, size.width() - gutterWidth - kRightMargin);
    return { QRect(0, kRulerHeight, gutterWidth, std::max(0, size.height() - kRulerHeight)),
        QRect(gutterWidth, 0, width, kRulerHeight),
        QRect(gutterWidth, kRulerHeight, width, std::max(0, size.height() - kRulerHeight)) };
}

std::uint32_t spanUnder(const TimelineState &state, const ChartGeometry &geometry, QPoint point)
{
    if (state.isEmpty() || !geometry.tracks.contains(point))
        return kNoSpan;
    const int index = rowAt(state.layout, point.y() - geometry.tracks.top(), state.scroll);
    if (index < 0 || state.layout.rows[std::size_t(index)].kind == TrackRow::Kind::Summary)
        return kNoSpan;
    if (isOnMeasured(state, geometry, index, point))
        return kNoSpan;
    Nanoseconds distance = INT64_MAX;
    std::uint32_t best = kNoSpan;
    for (const std::uint32_t track : state.layout.rows[std::size_t(index)].tracks) {
        const std::uint32_t found = nearest(state, geometry, *state.timeline(), track, point.x(), distance);
        best = found != kNoSpan ? found : best;
        if (distance == 0)
            break;
    }
    return best;
}

int measuredRowUnder(const TimelineState &state, const ChartGeometry &geometry, QPoint point)
{
    if (state.isEmpty() || !state.measured || !geometry.tracks.contains(point))
        return -1;
    const int index = rowAt(state.layout, point.y() - geometry.tracks.top(), state.scroll);
    return index >= 0 && isOnMeasured(state, geometry, index, point) ? index : -1;
}

std::uint32_t measuredUnder(const TimelineState &state, const ChartGeometry &geometry, QPoint point)
{
    const int index = measuredRowUnder(state, geometry, point);
    if (index < 0 || state.layout.rows[std::size_t(index)].kind == TrackRow::Kind::Summary)
        return kNoSpan;
    std::vector<std::uint32_t> tracks;
    state.measured->tracksOf(state.layout.rows[std::size_t(index)].measured, tracks);
    Nanoseconds distance = INT64_MAX;
    std::uint32_t best = kNoSpan;
    for (const std::uint32_t track : tracks) {
        const std::uint32_t found = nearest(state, geometry, state.measured->timeline, track, point.x(), distance);
        best = found != kNoSpan ? found : best;
        if (distance == 0)
            break;
    }
    return best;
}

int rowOfMeasured(const TimelineState &state, std::uint32_t span)
{
    const auto of = std::uint32_t(state.measured->rowOf(span));
    for (int r = state.layout.pinnedCount; r < int(state.layout.rows.size()); ++r) {
        const TrackRow &row = state.layout.rows[std::size_t(r)];
        if (row.kind != TrackRow::Kind::Summary && std::ranges::find(row.measured, of) != row.measured.end())
            return r;
    }
    return -1;
}

QRectF measuredRect(const TimelineState &state, const ChartGeometry &geometry, std::uint32_t span)
{
    const int index = rowOfMeasured(state, span);
    if (index < 0)
        return {};
    const TrackRow &row = state.layout.rows[std::size_t(index)];
    const Timeline &timeline = state.measured->timeline;
    return barRect(
        state, geometry, row, { timeline.start[span], timeline.end[span] }, row.measuredTop, row.measuredHeight);
}

std::uint32_t waitUnder(const TimelineState &state, const ChartGeometry &geometry, QPoint point)
{
    if (state.isEmpty() || !state.focus || !geometry.tracks.contains(point))
        return kNoSpan;
    const int index = rowAt(state.layout, point.y() - geometry.tracks.top(), state.scroll);
    if (index < 0 || state.layout.rows[std::size_t(index)].kind == TrackRow::Kind::Summary)
        return kNoSpan;
    const std::uint32_t mark = state.focus->markAt(
        state.layout.rows[std::size_t(index)].tracks.front(), geometry.time(state, point.x() + 0.5));
    return mark != kNoSpan && state.focus->marks[mark].isWait ? mark : kNoSpan;
}

QRectF spanRect(const TimelineState &state, const ChartGeometry &geometry, std::uint32_t span)
{
    const Timeline &timeline = *state.timeline();
    const int index = state.layout.rowOfTrack[timeline.trackOf[span]];
    if (index < 0)
        return {};
    const TrackRow &row = state.layout.rows[std::size_t(index)];
    return barRect(state, geometry, row, { timeline.start[span], timeline.end[span] }, row.barTop, row.barHeight);
}

} // namespace trainyard
