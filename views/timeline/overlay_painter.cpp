// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/overlay_painter.h"

#include "models/text/format.h"
#include "views/theme/theme.h"
#include "views/timeline/bound_painter.h"
#include "views/timeline/chart_painter.h"
#include "views/timeline/run_ends.h"

#include <QFontMetrics>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kLeastArrow = 16; // pixels between neighbours on a track that are worth an arrow
constexpr int kMostArrows = 24; // a span that lets hundreds start would hide the chart

void paintOutline(QPainter &painter, const QRectF &rect, const QColor &color, double width)
{
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(color, width));
    painter.drawRoundedRect(rect.adjusted(-width / 2, -width / 2, width / 2 - 1, width / 2), 2, 2);
}

void paintArrow(QPainter &painter, QPointF from, QPointF to, const QColor &color)
{
    const double bend = std::clamp(std::abs(to.x() - from.x()) / 2, 6.0, 60.0);
    QPainterPath path(from);
    path.cubicTo(from + QPointF(bend, 0), to - QPointF(bend, 0), to - QPointF(5, 0));
    QColor halo = theme().panel;
    halo.setAlpha(200);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(halo, 4));
    painter.drawPath(path);
    painter.setPen(QPen(color, 1.6));
    painter.drawPath(path);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawPolygon(QPolygonF { { to, to + QPointF(-7, -3.5), to + QPointF(-7, 3.5) } });
}

void paintArrows(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry)
{
    const Timeline &timeline = *state.timeline();
    const auto connect = [&](std::uint32_t from, std::uint32_t to, const QColor &color) {
        const QRectF a = spanRect(state, geometry, from), b = spanRect(state, geometry, to);
        const bool touches = timeline.trackOf[from] == timeline.trackOf[to] && b.left() - a.right() < kLeastArrow;
        // A span may begin before its cause ends, or with it.
        const double leaves =
            timeline.end[from] > timeline.start[to] ? std::clamp(b.left(), a.left(), a.right()) : a.right();
        if (!a.isNull() && !b.isNull() && !touches)
            paintArrow(painter, { leaves, a.center().y() }, { b.left(), b.center().y() }, color);
    };
    if (timeline.cause[state.selected] != kNoSpan)
        connect(timeline.cause[state.selected], state.selected, theme().text);
    for (std::size_t i = 0; i < std::min<std::size_t>(state.effects.size(), kMostArrows); ++i)
        connect(state.selected, state.effects[i], theme().accent);
}

/// Tick labels that a flag would cut in half go away whole.
void eraseTickLabels(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry, const QRectF &flag)
{
    const Nanoseconds step = rulerStep(state, geometry);
    for (const Nanoseconds t : ticks(state.range, step)) {
        const QRectF label = tickLabelRect(state, geometry, t, step);
        if (label.intersects(flag.adjusted(-3, 0, 3, 0)))
            painter.fillRect(label, theme().panel);
    }
}

/// A small filled label on the ruler, kept inside it; `anchor` 0 begins it at x, 0.5 centres it, 1 ends it there.
void paintFlag(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry, double x,
    const QString &text, const QColor &fill, const QColor &ink, double anchor = 0.5)
{
    painter.setFont(rowFont());
    const QFontMetrics metrics(painter.font());
    const double width = metrics.horizontalAdvance(text) + 10;
    const double left =
        std::clamp(x - width * anchor, double(geometry.ruler.left()), geometry.ruler.right() + 12 - width);
    paintFlagIn(painter, state, geometry, QRectF(left, geometry.ruler.top() + 2, width, geometry.ruler.height() - 5),
        text, fill, ink);
}

QColor flagInk(const QColor &fill)
{
    return fill.lightnessF() > 0.55F ? QColor(0x10151c) : QColor(0xffffff);
}

QString timeText(const TimelineState &state, Nanoseconds t, const ChartGeometry &geometry)
{
    // As fine as one pixel, rounded to a decade, so that digits do not flicker.
    Nanoseconds step = 1;
    while (double(step) * 10 <= double(state.range.length()) / std::max(1, geometry.tracks.width()))
        step *= 10;
    return tickLabel(t / step * step, step, state.whole.end);
}

void paintLine(QPainter &painter, const ChartGeometry &geometry, double x, const QColor &color)
{
    painter.fillRect(QRectF(std::round(x), geometry.ruler.bottom() - 3, 1, geometry.tracks.height() + 4), color);
}

void paintMarks(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry)
{
    const auto inside = [&](double x) {
        return x >= geometry.tracks.left() - 0.5 && x <= geometry.tracks.right() + 1.5;
    };
    const QColor color = theme().accent;
    for (const auto &mark : state.marks) {
        if (mark && inside(geometry.x(state, *mark))) {
            paintLine(painter, geometry, geometry.x(state, *mark), color);
            // Two flags point away from each other, so that close marks stay legible.
            const auto &other = &mark == &state.marks[0] ? state.marks[1] : state.marks[0];
            const double anchor = !other ? 0.5 : *mark <= *other ? 1 : 0;
            paintFlag(painter, state, geometry, geometry.x(state, *mark), timeText(state, *mark, geometry), color,
                flagInk(color), anchor);
        }
    }
    if (!state.marks[0] || !state.marks[1])
        return;
    const double a = std::clamp(geometry.x(state, std::min(*state.marks[0], *state.marks[1])),
        double(geometry.tracks.left()), geometry.tracks.right() + 1.0);
    const double b = std::clamp(geometry.x(state, std::max(*state.marks[0], *state.marks[1])),
        double(geometry.tracks.left()), geometry.tracks.right() + 1.0);
    QColor wash = color;
    wash.setAlpha(28);
    painter.fillRect(QRectF(a, geometry.tracks.top(), b - a, geometry.tracks.height()), wash);
    const QString text =
        QStringLiteral("Δ ") + formatSeconds(double(std::abs(*state.marks[1] - *state.marks[0])) * 1e-9);
    ChartGeometry below = geometry;
    below.ruler.translate(0, kRulerHeight);
    paintFlag(painter, state, below, (a + b) / 2, text, theme().panelRaised, theme().text);
}

void paintArea(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry)
{
    const QRectF rect = areaRect(state, geometry);
    QColor wash = theme().accent;
    wash.setAlpha(40);
    painter.fillRect(rect, wash);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme().accent, 1));
    painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5));
}

/// The rows of the GPU that a job would be pinned to.
void paintDropRows(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry)
{
    QColor wash = theme().accent;
    wash.setAlpha(50);
    for (const TrackRow &row : state.layout.rows)
        if (row.stage == state.dropGpu && row.kind != TrackRow::Kind::Summary)
            painter.fillRect(
                QRect(geometry.tracks.left(), geometry.tracks.top() + rowTop(state.layout, row, state.scroll),
                    geometry.tracks.width(), row.pitch),
                wash);
}

} // namespace

void paintFlagIn(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry, const QRectF &box,
    const QString &text, const QColor &fill, const QColor &ink, bool clears)
{
    if (clears)
        eraseTickLabels(painter, state, geometry, box);
    painter.setPen(Qt::NoPen);
    painter.setBrush(fill);
    painter.drawRoundedRect(box, 3, 3);
    painter.setPen(ink);
    painter.drawText(box, Qt::AlignCenter, text);
}

QRectF areaRect(const TimelineState &state, const ChartGeometry &geometry)
{
    const auto &rows = state.layout.rows;
    if (!state.area || rows.empty())
        return {};
    const auto row = [&](int r) -> const TrackRow & {
        return rows[std::size_t(std::clamp(r, 0, int(rows.size()) - 1))];
    };
    const TrackRow &first = row(state.area->firstRow), &last = row(state.area->lastRow);
    const double left = std::max(geometry.x(state, state.area->time.begin), geometry.tracks.left() - 2.0);
    const double right = std::min(geometry.x(state, state.area->time.end), geometry.tracks.right() + 3.0);
    const double top = geometry.tracks.top() + rowTop(state.layout, first, state.scroll) - 1;
    const double bottom = geometry.tracks.top() + rowTop(state.layout, last, state.scroll) + last.pitch - 1;
    return { left, top, std::max(0.0, right - left), bottom - top };
}

QRect hoverRect(const TimelineState &state, const ChartGeometry &geometry, std::uint32_t span)
{
    if (span == kNoSpan || state.isEmpty())
        return {};
    return spanRect(state, geometry, span).adjusted(-4, -4, 4, 4).toAlignedRect();
}

QRect measuredHoverRect(const TimelineState &state, const ChartGeometry &geometry, std::uint32_t span)
{
    if (span == kNoSpan || state.isEmpty() || !state.measured)
        return {};
    return measuredRect(state, geometry, span).adjusted(-4, -4, 4, 4).toAlignedRect();
}

void paintOverlay(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry)
{
    painter.setRenderHint(QPainter::Antialiasing);
    paintBounds(painter, state, geometry);
    paintEnds(painter, state, geometry);
    painter.save();
    painter.setClipRect(QRect(
        geometry.tracks.left() - 3, geometry.tracks.top(), geometry.tracks.width() + 6, geometry.tracks.height()));
    if (state.area)
        paintArea(painter, state, geometry);
    if (state.dropGpu >= 0)
        paintDropRows(painter, state, geometry);
    if (state.hovered != kNoSpan && state.hovered != state.selected)
        paintOutline(painter, spanRect(state, geometry, state.hovered), theme().text, 1.5);
    if (state.selected != kNoSpan) {
        paintArrows(painter, state, geometry);
        paintOutline(
            painter, spanRect(state, geometry, state.selected), theme().isDark ? theme().text : QColor(0x10151c), 2);
    }
    if (state.hoveredMeasured != kNoSpan && state.hoveredMeasured != state.selectedMeasured)
        paintOutline(painter, measuredRect(state, geometry, state.hoveredMeasured), theme().text, 1.5);
    if (state.selectedMeasured != kNoSpan)
        paintOutline(painter, measuredRect(state, geometry, state.selectedMeasured),
            theme().isDark ? theme().text : QColor(0x10151c), 2);
    painter.restore();
    const auto &time = state.pointer ? state.pointer : state.cursor;
    if (time && state.range.contains(*time)) {
        const double x = geometry.x(state, *time);
        QColor line = theme().textFaint;
        line.setAlpha(110);
        paintLine(painter, geometry, x, line);
        paintFlag(
            painter, state, geometry, x, timeText(state, *time, geometry), theme().panelRaised, theme().textMuted);
    }
    paintMarks(painter, state, geometry);
    if (state.area)
        paintFlag(painter, state, geometry,
            std::clamp(areaRect(state, geometry).center().x(), double(geometry.tracks.left()),
                double(geometry.tracks.right())),
            formatSeconds(double(state.area->time.length()) * 1e-9), theme().accent, flagInk(theme().accent));
}

} // namespace trainyard
