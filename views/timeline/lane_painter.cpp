// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/lane_painter.h"

#include "models/text/format.h"
#include "views/theme/part_colors.h"
#include "views/theme/theme.h"
#include "views/theme/turn_colors.h"
#include "views/timeline/lane_pixels.h"
#include "views/timeline/layer_text.h"
#include "views/timeline/operation_strip.h"
#include "views/timeline/row_crew.h"
#include "views/timeline/state_text.h"

#include <QThread>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace trainyard {

namespace {

constexpr int kPatternFrom = 5; // pixels from which a pattern reads
constexpr double kPale = 0.35; // of what an operation computes, in its strip
constexpr int kNameFrom = 90; // logical pixels from which a bar may say its kind

/// Spans in sight of a picture that are worth a second thread: less take less than to wake one.
constexpr std::uint64_t kManySpans = 100'000;
constexpr int kMostHands = 4;

void copyRow(const PixelLines &image, std::span<const QRgb> row, int left, int top, int bottom)
{
    for (int y = top; y < bottom; ++y)
        std::memcpy(image.line(y) + left, row.data(), row.size_bytes());
}

std::uint64_t spansInSight(const TimelineState &state, const TrackRow &row)
{
    const Timeline &timeline = *state.timeline();
    std::uint64_t count = 0;
    for (const std::uint32_t index : row.tracks) {
        const auto [from, to] =
            visibleSpans(timeline, timeline.tracks[index].first, timeline.tracks[index].last, state.range);
        count += to - from;
    }
    return count;
}

} // namespace

void LanePainter::paint(QImage &image, const TimelineState &state, const QRect &tracks)
{
    m_hands.front().mixer.prepare(state, state.showsCriticalPath);
    const double ratio = image.devicePixelRatio();
    m_labels.setFont(uiFont(-2), ratio);
    if (state.measured)
        m_measured.prepare(state, ratio);
    const std::vector<Placed> rows = placed(image, state, tracks);
    fillRows(image, state, rows);
    for (const Placed &each : rows) {
        // Patterns and numbers of the front only: those behind would show through its gaps.
        if (each.bar.top < each.bar.bottom && !each.isDense && each.row->kind != TrackRow::Kind::Summary) {
            paintDetail(image, state, *each.row, each.bar);
            if (state.focus)
                paintMarks(image, state, *each.row, each.bar);
        }
        if (!state.measured)
            continue;
        // The plan is over: no idle rows up to the end of a longer run.
        const Lane &bar = each.bar, &measured = each.measured;
        const int planEnd = int(std::clamp(
            std::ceil(timeToX(state.timeline()->duration, state.range, 0, bar.width)), 0.0, double(bar.width)));
        for (int y = bar.top; y < bar.bottom; ++y)
            std::fill(scanLine(image, y) + bar.left + planEnd, scanLine(image, y) + bar.left + bar.width,
                theme().panel.rgb());
        if (measured.top < measured.bottom)
            m_measured.paint(image, state, *each.row,
                QRect(measured.left, measured.top, measured.width, measured.bottom - measured.top),
                measured.foot - measured.head);
    }
    if (state.showsCriticalPath)
        paintCriticalPath(image, state, tracks);
}

std::vector<LanePainter::Placed> LanePainter::placed(
    const QImage &image, const TimelineState &state, const QRect &tracks)
{
    const double ratio = image.devicePixelRatio();
    const auto device = [ratio](int logical) { return int(std::lround(logical * ratio)); };
    std::vector<Placed> rows;
    for (const TrackRow &row : state.layout.rows) {
        const int top = tracks.top() + rowTop(state.layout, row, state.scroll);
        const int least = tracks.top() + (row.isPinned ? 0 : state.layout.pinnedHeight);
        const auto lane = [&](int from, int height) {
            const int head = device(top + from), foot = device(top + from + height);
            return Lane { device(tracks.left()), device(tracks.width()), std::max(head, device(least)),
                std::min(foot, device(tracks.bottom() + 1)), head, foot };
        };
        Placed each { &row, lane(row.barTop, row.barHeight), lane(row.measuredTop, row.measuredHeight),
            lane(row.ghostTop, row.ghostHeight), int(std::lround(row.barHeight * ratio)), false };
        if (each.bar.top >= each.bar.bottom && each.measured.top >= each.measured.bottom
            && each.ghost.top >= each.ghost.bottom)
            continue;
        each.isDense = row.barHeight * ratio >= kShareFrom && mixer().isDense(state, row, state.range, each.bar.width);
        rows.push_back(each);
    }
    return rows;
}

void LanePainter::fillRows(QImage &image, const TimelineState &state, const std::vector<Placed> &rows)
{
    std::uint64_t spans = 0;
    for (const Placed &each : rows)
        spans += spansInSight(state, *each.row);
    const int hands = spans < kManySpans ? 1 : std::clamp(QThread::idealThreadCount(), 1, kMostHands);
    m_hands.resize(std::max(m_hands.size(), std::size_t(hands)));
    for (int hand = 1; hand < hands; ++hand)
        m_hands[std::size_t(hand)].mixer = mixer();
    const PixelLines lines(image);
    const int height = image.height();
    forEachRow(int(rows.size()), hands,
        [&](int row, int hand) { fillRow(lines, height, state, rows[std::size_t(row)], m_hands[std::size_t(hand)]); });
}

void LanePainter::fillRow(
    const PixelLines &image, int imageHeight, const TimelineState &state, const Placed &placed, Hand &hand)
{
    const Lane &bar = placed.bar, &ghost = placed.ghost;
    if (bar.top < bar.bottom && placed.isDense)
        fillShares(image, imageHeight, state, placed, hand);
    else if (bar.top < bar.bottom)
        copyRow(image, hand.mixer.mix(state, *placed.row, state.range, bar.width), bar.left, bar.top, bar.bottom);
    if (ghost.top < ghost.bottom)
        copyRow(image, hand.mixer.ghost(state, *placed.row, ghost.width), ghost.left, ghost.top, ghost.bottom);
}

/// Columns first, each as high as the whole bar, although some of it may be scrolled out of sight; then line by line.
void LanePainter::fillShares(
    const PixelLines &image, int imageHeight, const TimelineState &state, const Placed &placed, Hand &hand)
{
    const Lane &lane = placed.bar;
    const KindShares &shares = hand.mixer.shares(state, *placed.row, state.range, lane.width);
    const KindShares::Colors colors = hand.mixer.colors();
    const int height = placed.barHeight, count = shares.columns();
    hand.columns.assign(std::size_t(height) * std::size_t(count), hand.mixer.idle());
    hand.edges.resize(std::size_t(count) + 1);
    for (int c = 0; c < count; ++c)
        shares.fill(
            c, std::span(hand.columns).subspan(std::size_t(c) * std::size_t(height), std::size_t(height)), colors);
    for (int c = 0; c <= count; ++c)
        hand.edges[std::size_t(c)] = lane.left + int(std::int64_t(c) * lane.width / count);
    const bool isCutAbove = lane.bottom - lane.top < height && lane.top > 0 && lane.bottom < imageHeight;
    for (int y = lane.top; y < lane.bottom; ++y) {
        const int fromBottom = isCutAbove ? lane.bottom - 1 - y : height - 1 - (y - lane.top);
        const QRgb *pixel = hand.columns.data() + std::clamp(fromBottom, 0, height - 1);
        QRgb *line = image.line(y);
        for (int c = 0; c < count; ++c, pixel += height)
            std::fill(line + hand.edges[std::size_t(c)], line + hand.edges[std::size_t(c) + 1], *pixel);
    }
}

void LanePainter::paintDetail(QImage &image, const TimelineState &state, const TrackRow &row, const Lane &lane)
{
    const double ratio = image.devicePixelRatio();
    const int strip = int(std::lround(stripHeight(row.barHeight) * ratio));
    const Timeline &timeline = *state.timeline();
    const QRect all(lane.left, lane.top, lane.width, lane.bottom - lane.top);
    const auto [from, to] = mixer().distinctSpans(timeline, row.tracks.front(), state.range, lane.width);
    for (std::uint32_t i = from; i < to; ++i) {
        const PixelSpan pixels = pixelSpan(timeline, i, state.range, lane.width);
        if (pixels.width() < kPatternFrom || !mixer().isVivid(state, i))
            continue;
        const QRect bar(lane.left + pixels.left, lane.top, pixels.width() - 1, all.height());
        const QRgb fill = mixer().fillOf(timeline, i, row.hasTurns);
        const QRgb ink = mixer().inkOf(timeline, i, row.hasTurns);
        if (bar.height() >= 8) {
            for (const QPoint corner : { bar.topLeft(), bar.bottomLeft(), bar.topRight(), bar.bottomRight() }) {
                if (all.contains(corner))
                    scanLine(image, corner.y())[corner.x()] = mixed(fill, mixer().idle(), 0.6);
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
            part.part == &Breakdown::compute ? mixed(fill, mixer().idle(), kPale) : partColor(part.part).rgb();
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
    const auto [from, to] = mixer().distinctSpans(focus.timeline, row.tracks.front(), state.range, lane.width);
    for (std::uint32_t i = from; i < to; ++i) {
        const PixelSpan pixels = pixelSpan(focus.timeline, i, state.range, lane.width);
        if (pixels.width() < kPatternFrom)
            continue;
        const QRect bar(lane.left + pixels.left, lane.top, pixels.width() - 1, all.height());
        const FocusMark &mark = focus.marks[i];
        const QRgb fill = mixer().fillOf(mark), ink = inkOn(QColor(fill)).rgb();
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
        const QRgb color = !state.filter.hasKind(kind) ? mixer().fadedOf(timeline, span)
            : state.jobs.isEmpty()                     ? theme().work(kind).rgb()
                                                       : mixer().fillOf(timeline, span, false);
        const int width = std::max(1, device.width() - (device.width() >= kTellApart ? 1 : 0));
        for (int y = device.top(); y <= device.bottom(); ++y)
            std::fill_n(scanLine(image, y) + device.left(), device.isEmpty() ? 0 : width, color);
        const QString number = spanLabel(*state.evaluation, span);
        if (!number.isEmpty() && device.height() >= kLabelHeight * ratio
            && device.width() >= m_labels.width(number) + kLabelPad)
            m_labels.draw(image, device.center(), number, mixer().inkOf(timeline, span, false), device);
    }
}

} // namespace trainyard
