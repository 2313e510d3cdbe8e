// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/lane_painter.h"

#include "models/text/format.h"
#include "views/theme/part_colors.h"
#include "views/theme/theme.h"
#include "views/theme/turn_colors.h"
#include "views/timeline/lane_pixels.h"
#include "views/timeline/layer_text.h"
#include "views/timeline/operation_strip.h"
#include "views/timeline/state_text.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace trainyard {

namespace {

constexpr int kPatternFrom = 5; // pixels from which a pattern reads
constexpr double kPale = 0.35; // of what an operation computes, in its strip
constexpr int kNameFrom = 90; // logical pixels from which a bar may say its kind

void copyRow(QImage &image, std::span<const QRgb> row, int left, int top, int bottom)
{
    for (int y = top; y < bottom; ++y)
        std::memcpy(scanLine(image, y) + left, row.data(), row.size_bytes());
}

} // namespace

void LanePainter::paint(QImage &image, const TimelineState &state, const QRect &tracks)
{
    m_mixer.prepare(state, state.showsCriticalPath);
    const double ratio = image.devicePixelRatio();
    m_labels.setFont(uiFont(-2), ratio);
    if (state.measured)
        m_measured.prepare(state, ratio);
    const auto device = [ratio](int logical) { return int(std::lround(logical * ratio)); };
    const Lane all { device(tracks.left()), device(tracks.width()), device(tracks.top()), device(tracks.bottom() + 1),
        0 };
    const int planEnd = int(
        std::clamp(std::ceil(timeToX(state.timeline()->duration, state.range, 0, all.width)), 0.0, double(all.width)));
    for (const TrackRow &row : state.layout.rows) {
        const int top = tracks.top() + rowTop(state.layout, row, state.scroll);
        const int least = tracks.top() + (row.isPinned ? 0 : state.layout.pinnedHeight);
        const auto lane = [&](int from, int height) {
            return Lane { all.left, all.width, std::max(device(top + from), device(least)),
                std::min(device(top + from + height), all.bottom), device(top + from + height) };
        };
        const Lane bar = lane(row.barTop, row.barHeight);
        if (bar.top < bar.bottom)
            paintRow(image, state, row, bar);
        if (state.measured) // the plan is over: no idle rows up to the end of a longer run
            for (int y = bar.top; y < bar.bottom; ++y)
                std::fill(scanLine(image, y) + bar.left + planEnd, scanLine(image, y) + bar.left + bar.width,
                    theme().panel.rgb());
        const Lane measured = lane(row.measuredTop, row.measuredHeight);
        if (state.measured && measured.top < measured.bottom)
            m_measured.paint(image, state, row,
                QRect(measured.left, measured.top, measured.width, measured.bottom - measured.top),
                device(top + row.measuredTop + row.measuredHeight) - device(top + row.measuredTop));
        const Lane ghost = lane(row.ghostTop, row.ghostHeight);
        if (ghost.top < ghost.bottom)
            copyRow(image, m_mixer.ghost(state, row, ghost.width), ghost.left, ghost.top, ghost.bottom);
    }
    if (state.showsCriticalPath)
        paintCriticalPath(image, state, tracks);
}

void LanePainter::paintRow(QImage &image, const TimelineState &state, const TrackRow &row, const Lane &lane)
{
    if (row.barHeight * image.devicePixelRatio() >= kShareFrom && m_mixer.isDense(state, row, state.range, lane.width))
        return paintShares(image, state, row, lane);
    copyRow(image, m_mixer.mix(state, row, state.range, lane.width), lane.left, lane.top, lane.bottom);
    // Patterns and numbers of the front only: those behind would show through its gaps.
    if (row.kind != TrackRow::Kind::Summary)
        paintDetail(image, state, row, lane);
    if (row.kind != TrackRow::Kind::Summary && state.focus)
        paintMarks(image, state, row, lane);
}

void LanePainter::paintShares(QImage &image, const TimelineState &state, const TrackRow &row, const Lane &lane)
{
    const KindShares &shares = m_mixer.shares(state, row, state.range, lane.width);
    const KindShares::Colors colors = m_mixer.colors();
    // Of the whole bar, although some of it may be scrolled out of sight.
    const int height = int(std::lround(row.barHeight * image.devicePixelRatio()));
    const bool isCutAbove = lane.bottom - lane.top < height && lane.top > 0 && lane.bottom < image.height();
    m_column.resize(std::size_t(height));
    const auto edge = [&](int column) { return lane.left + int(std::int64_t(column) * lane.width / shares.columns()); };
    for (int c = 0; c < shares.columns(); ++c) {
        std::ranges::fill(m_column, m_mixer.idle());
        shares.fill(c, m_column, colors);
        for (int y = lane.top; y < lane.bottom; ++y) {
            const int fromBottom = isCutAbove ? lane.bottom - 1 - y : height - 1 - (y - lane.top);
            std::fill(scanLine(image, y) + edge(c), scanLine(image, y) + edge(c + 1),
                m_column[std::size_t(std::clamp(fromBottom, 0, height - 1))]);
        }
    }
}

void LanePainter::paintDetail(QImage &image, const TimelineState &state, const TrackRow &row, const Lane &lane)
{
    const double ratio = image.devicePixelRatio();
    const int strip = int(std::lround(stripHeight(row.barHeight) * ratio));
    const Timeline &timeline = *state.timeline();
    const QRect all(lane.left, lane.top, lane.width, lane.bottom - lane.top);
    const auto [from, to] = m_mixer.distinctSpans(timeline, row.tracks.front(), state.range, lane.width);
    for (std::uint32_t i = from; i < to; ++i) {
        const PixelSpan pixels = pixelSpan(timeline, i, state.range, lane.width);
        if (pixels.width() < kPatternFrom || !m_mixer.isVivid(state, i))
            continue;
        const QRect bar(lane.left + pixels.left, lane.top, pixels.width() - 1, all.height());
        const QRgb fill = m_mixer.fillOf(timeline, i, row.hasTurns);
        const QRgb ink = m_mixer.inkOf(timeline, i, row.hasTurns);
        if (bar.height() >= 8) {
            for (const QPoint corner : { bar.topLeft(), bar.bottomLeft(), bar.topRight(), bar.bottomRight() }) {
                if (all.contains(corner))
                    scanLine(image, corner.y())[corner.x()] = mixed(fill, m_mixer.idle(), 0.6);
            }
        }
        paintPattern(image, bar, bar & all, fillPattern(timeline.kind[i]), fill, ink);
        QRect upper = bar & all;
        if (hasStrip(state, i, pixels.width() / ratio, row.barHeight)) {
            paintStrip(image, state, i, QRect(bar.left(), lane.foot - strip, bar.width(), strip), lane, fill);
            if (bar.height() - strip >= kLabelHeight * ratio)
                upper.setBottom(std::min(upper.bottom(), lane.foot - strip - 1));
        }
        paintLabel(image, state, i, upper,
            std::min(pixels.exactRight, double(lane.width)) - std::max(pixels.exactLeft, 0.0) - 1, fill, ink);
    }
}

void LanePainter::paintStrip(
    QImage &image, const TimelineState &state, std::uint32_t span, const QRect &strip, const Lane &lane, QRgb fill)
{
    for (const OperationPart &part : operationParts(*state.timeline(), span)) {
        const QRgb color =
            part.part == &Breakdown::compute ? mixed(fill, m_mixer.idle(), kPale) : partColor(part.part).rgb();
        const auto edge = [&](Nanoseconds t) {
            return lane.left
                + int(std::lround(std::clamp(timeToX(t, state.range, 0, lane.width), -8.0, lane.width + 8.0)));
        };
        const int left = std::max({ strip.left(), edge(part.begin), lane.left }),
                  right = std::min({ strip.right() + 1, edge(part.end), lane.left + lane.width });
        for (int y = std::max(strip.top(), lane.top); y < std::min(strip.bottom() + 1, lane.bottom); ++y)
            if (left < right)
                std::fill(scanLine(image, y) + left, scanLine(image, y) + right, color);
    }
}

/// Bars in the colours of their kind keep their number; pieces of a part say how long they are, and waits are hatched.
void LanePainter::paintMarks(QImage &image, const TimelineState &state, const TrackRow &row, const Lane &lane)
{
    const TimeFocus &focus = *state.focus;
    const QRect all(lane.left, lane.top, lane.width, lane.bottom - lane.top);
    const auto [from, to] = m_mixer.distinctSpans(focus.timeline, row.tracks.front(), state.range, lane.width);
    for (std::uint32_t i = from; i < to; ++i) {
        const PixelSpan pixels = pixelSpan(focus.timeline, i, state.range, lane.width);
        if (pixels.width() < kPatternFrom)
            continue;
        const QRect bar(lane.left + pixels.left, lane.top, pixels.width() - 1, all.height());
        const FocusMark &mark = focus.marks[i];
        const QRgb fill = m_mixer.fillOf(mark), ink = inkOn(QColor(fill)).rgb();
        if (!focus.partOf(i)) {
            paintLabel(image, state, mark.span, bar & all,
                std::min(pixels.exactRight, double(lane.width)) - std::max(pixels.exactLeft, 0.0) - 1, fill, ink);
            continue;
        }
        paintPattern(image, bar, bar & all, mark.isWait ? FillPattern::Hatch : FillPattern::Plain, fill, ink);
        const QString length = formatSeconds(double(focus.timeline.end[i] - focus.timeline.start[i]) * 1e-9);
        QRect plate(0, 0, m_labels.width(length) + 2 * kLabelPad, all.height());
        if (all.height() < kLabelHeight * image.devicePixelRatio()
            || (bar & all).width() < plate.width() + 4 * kLabelPad)
            continue;
        plate.moveCenter((bar & all).center());
        for (int y = plate.top(); y <= plate.bottom(); ++y)
            std::fill_n(scanLine(image, y) + plate.left(), plate.width(), fill);
        m_labels.draw(image, plate.center(), length, ink, plate);
    }
}

void LanePainter::paintPattern(
    QImage &image, const QRect &bar, const QRect &clip, FillPattern pattern, QRgb fill, QRgb inkColor)
{
    if (pattern == FillPattern::Plain)
        return;
    const QRgb ink = mixed(fill, inkColor, 0.28);
    for (int y = clip.top(); y <= clip.bottom(); ++y) {
        QRgb *line = scanLine(image, y);
        for (int x = clip.left(); x <= clip.right(); ++x) {
            if (patternInks(pattern, x - bar.left(), y - bar.top()))
                line[x] = ink;
        }
    }
}

void LanePainter::paintLabel(
    QImage &image, const TimelineState &state, std::uint32_t span, const QRect &clip, double room, QRgb fill, QRgb ink)
{
    const Timeline &timeline = *state.timeline();
    const double ratio = image.devicePixelRatio();
    if (clip.height() < kLabelHeight * ratio || clip.width() < kLabelPad)
        return;
    const WorkKind kind = timeline.kind[span];
    const QString number = spanLabel(*state.evaluation, span);
    if (const QString job = state.jobs.name(state.jobs.of(timeline, span));
        !job.isEmpty() && m_labels.width(job) + 4 * kLabelPad < clip.width())
        return paintPlated(image, job, clip, fillPattern(kind), fill, ink);
    if (number.isEmpty()) {
        // A GPU that waits for its host must not look as if it worked.
        const QString place = optimizerPlace(*state.evaluation, span);
        for (const QString &text : { QString::fromUtf8(toString(kind)) + u' ' + place, place }) {
            if (!place.isEmpty() && m_labels.width(text) + 4 * kLabelPad < clip.width())
                return m_labels.draw(image, clip.center(), text, ink, clip);
        }
        return;
    }
    const int width = m_labels.width(QString(number.size(), u'0'));
    const bool patterned = fillPattern(kind) != FillPattern::Plain;
    if (room < width + (patterned ? 4 * kLabelPad : 0))
        return;
    QString text = number;
    if (clip.width() >= kNameFrom * ratio) {
        const QString named = longSpanLabel(*state.evaluation, span);
        if (m_labels.width(named) + 4 * kLabelPad < clip.width())
            text = named;
    }
    paintPlated(image, text, clip, fillPattern(kind), fill, ink);
}

void LanePainter::paintPlated(
    QImage &image, const QString &text, const QRect &clip, FillPattern pattern, QRgb fill, QRgb ink)
{
    if (pattern != FillPattern::Plain) { // a plain plate keeps the number legible
        QRect plate(0, 0, m_labels.width(text) + kLabelPad, clip.height());
        plate.moveCenter(clip.center());
        plate &= clip;
        for (int y = plate.top(); y <= plate.bottom(); ++y)
            std::fill_n(scanLine(image, y) + plate.left(), plate.width(), fill);
    }
    m_labels.draw(image, clip.center(), text, ink, clip);
}

void LanePainter::paintCriticalPath(QImage &image, const TimelineState &state, const QRect &tracks)
{
    const Timeline &timeline = *state.timeline();
    const double ratio = image.devicePixelRatio();
    const ChartGeometry geometry { {}, {}, tracks };
    const QRect clip(QPoint(int(tracks.left() * ratio), int((tracks.top() + state.layout.pinnedHeight) * ratio)),
        QPoint(int((tracks.right() + 1) * ratio) - 1, int((tracks.bottom() + 1) * ratio) - 1));
    for (const std::uint32_t span : state.criticalPath) {
        if (timeline.end[span] <= state.range.begin || timeline.start[span] >= state.range.end)
            continue;
        const QRectF rect = spanRect(state, geometry, span);
        const QRect device =
            QRectF(rect.x() * ratio, rect.y() * ratio, rect.width() * ratio, rect.height() * ratio).toRect() & clip;
        const WorkKind kind = timeline.kind[span];
        const QRgb color = !state.filter.hasKind(kind) ? m_mixer.fadedOf(timeline, span)
            : state.jobs.isEmpty()                     ? theme().work(kind).rgb()
                                                       : m_mixer.fillOf(timeline, span, false);
        const int width = std::max(1, device.width() - (device.width() >= kTellApart ? 1 : 0));
        for (int y = device.top(); y <= device.bottom(); ++y)
            std::fill_n(scanLine(image, y) + device.left(), device.isEmpty() ? 0 : width, color);
        const QString number = spanLabel(*state.evaluation, span);
        if (!number.isEmpty() && device.height() >= kLabelHeight * ratio
            && device.width() >= m_labels.width(number) + kLabelPad)
            m_labels.draw(image, device.center(), number, m_mixer.inkOf(timeline, span, false), device);
    }
}

} // namespace trainyard
