// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/timeline_state.h"

#include "core/timeline/analysis.h"

#include <algorithm>

namespace trainyard {

namespace {
constexpr int kRightMargin = 12;
constexpr double kReach = 3; // pixels beside a thin bar that still mean it
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
    const Timeline &timeline = *state.timeline();
    const Nanoseconds from = geometry.time(state, point.x() - kReach), at = geometry.time(state, point.x() + 0.5);
    const Nanoseconds to = geometry.time(state, point.x() + kReach) + 1;
    std::uint32_t best = kNoSpan;
    Nanoseconds bestDistance = INT64_MAX;
    for (const std::uint32_t track : state.layout.rows[std::size_t(index)].tracks) {
        const std::uint32_t exact = spanAt(timeline, track, at);
        if (exact != kNoSpan)
            return exact;
        for (std::uint32_t i = firstSpanAfter(timeline, track, from);
             i < timeline.tracks[track].last && timeline.start[i] < to; ++i) {
            const Nanoseconds distance = std::max(timeline.start[i] - at, at - timeline.end[i]);
            if (timeline.end[i] > from && distance < bestDistance)
                bestDistance = distance, best = i;
        }
    }
    return best;
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
    const double left = geometry.tracks.left(), right = geometry.tracks.right() + 1.0;
    const double x0 = std::clamp(geometry.x(state, timeline.start[span]), left - 8, right + 8);
    const double x1 = std::clamp(geometry.x(state, timeline.end[span]), left - 8, right + 8);
    const double top = geometry.tracks.top() + rowTop(state.layout, row, state.scroll) + row.barTop;
    return { x0, top, std::max(1.0, x1 - x0), double(row.barHeight) };
}

} // namespace trainyard
