// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/measured_painter.h"

#include "views/theme/theme.h"
#include "views/theme/turn_colors.h"
#include "views/timeline/lane_pixels.h"
#include "views/timeline/measured_text.h"
#include "views/timeline/row_mixer.h"

#include <QPainter>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace trainyard {

namespace {

constexpr double kMeasuredFade = 0.75; // while something of the plan stands out
constexpr int kMeasuredTellApart = 4; // pixels from which bars get a gap
constexpr int kMeasuredPatternFrom = 8; // pixels from which a pattern reads
constexpr int kMeasuredLabelHeight = 9; // logical pixels of a lane that a name needs
constexpr int kLabelFrom = 44; // and of a bar
constexpr int kHatch = 8; // device pixels between lines where nothing was recorded

/// First pixel past the end of the run.
int endOf(const TimelineState &state, int width)
{
    return int(std::clamp(std::ceil(timeToX(state.measured->end, state.range, 0, width)), 0.0, double(width)));
}

} // namespace

FillPattern fillPattern(RecordedWork work)
{
    switch (work) {
    case RecordedWork::Communication:
        return FillPattern::Lines;
    case RecordedWork::Copy:
        return FillPattern::BackHatch;
    case RecordedWork::Wait:
        return FillPattern::Hatch;
    default:
        return FillPattern::Plain;
    }
}

void MeasuredPainter::prepare(const TimelineState &state, qreal devicePixelRatio)
{
    m_panel = theme().panel.rgb();
    m_idle = recordedIdle().rgb();
    m_hatch = mixed(m_panel, theme().textFaint.rgb(), 0.55);
    const bool isFaded = state.focus.has_value() || state.showsCriticalPath;
    for (int work = 0; work < kRecordedWorkCount; ++work) {
        const QRgb color = recordedColor(RecordedWork(work)).rgb();
        m_colors[std::size_t(work)] = isFaded ? mixed(color, m_idle, kMeasuredFade) : color;
        m_lanes[std::size_t(work)] = toLanes(QColor(m_colors[std::size_t(work)]));
    }
    m_lanes.back() = m_lanes[std::size_t(RecordedWork::Other)];
    m_labels.setFont(uiFont(-3), devicePixelRatio);
}

std::span<const QRgb> MeasuredPainter::mix(const TimelineState &state, const TrackRow &row, int width)
{
    const MeasuredLanes &measured = *state.measured;
    const auto add = [&](std::uint32_t index) {
        const Track &track = measured.timeline.tracks[index];
        m_walk.addByClass(measured.timeline, track.first, track.last, m_lanes, m_lanes, {});
    };
    m_row.assign(std::size_t(width), m_idle);
    measured.tracksOf(row.measured, m_tracks);
    if (row.kind == TrackRow::Kind::Summary) { // each row with the same weight
        m_walk.begin(state.range, width);
        for (const std::uint32_t track : m_tracks)
            if (track % MeasuredLanes::kLayers + 1 < MeasuredLanes::kLayers)
                add(track);
        m_walk.resolve(m_row, std::max(2, int(row.measured.size())));
    } else {
        for (auto track = m_tracks.rbegin(); track != m_tracks.rend(); ++track) {
            const Track &of = measured.timeline.tracks[*track];
            if (of.first == of.last)
                continue;
            m_walk.begin(state.range, width);
            add(*track);
            m_walk.resolve(m_row);
        }
    }
    std::fill(m_row.begin() + endOf(state, width), m_row.end(), m_panel);
    return m_row;
}

template <class Visit> void MeasuredPainter::eachDistinct(const TimelineState &state, int width, Visit visit)
{
    const Timeline &timeline = state.measured->timeline;
    const auto isHidden = [&](std::size_t before, TimeInterval time) {
        return std::ranges::any_of(std::span(m_tracks).first(before), [&](std::uint32_t front) {
            const Track &track = timeline.tracks[front];
            const auto [from, to] = visibleSpans(timeline, track.first, track.last, time);
            return from < to;
        });
    };
    for (std::size_t t = 0; t < m_tracks.size(); ++t) {
        const Track &track = timeline.tracks[m_tracks[t]];
        const auto [from, to] = visibleSpans(timeline, track.first, track.last, state.range);
        if (to - from > std::uint32_t(width) / 2)
            continue;
        for (std::uint32_t span = from; span < to; ++span)
            if (const PixelSpan pixels = pixelSpan(timeline, span, state.range, width);
                pixels.width() >= kMeasuredTellApart && !isHidden(t, { timeline.start[span], timeline.end[span] }))
                visit(span, pixels);
    }
}

void MeasuredPainter::paint(
    QImage &image, const TimelineState &state, const TrackRow &row, const QRect &lane, int height)
{
    if (state.measured->areMissing(row.measured)) {
        const int end = lane.left() + endOf(state, lane.width());
        for (int y = lane.top(); y <= lane.bottom(); ++y)
            for (int x = lane.left(); x < end; ++x)
                scanLine(image, y)[x] = (x + y) % kHatch < 2 ? m_hatch : m_panel;
        return;
    }
    const std::span<const QRgb> pixels = mix(state, row, lane.width());
    for (int y = lane.top(); y <= lane.bottom(); ++y)
        std::memcpy(scanLine(image, y) + lane.left(), pixels.data(), pixels.size_bytes());
    if (row.kind == TrackRow::Kind::Summary)
        return;
    const double ratio = image.devicePixelRatio();
    const bool hasLabels = height >= kMeasuredLabelHeight * ratio && lane.height() == height;
    const int letter = std::max(1, m_labels.width(QStringLiteral("nnnnnnnnnn")) / 10);
    eachDistinct(state, lane.width(), [&](std::uint32_t span, const PixelSpan &place) {
        const RecordedWork work = state.measured->workOf(span);
        const QRgb fill = m_colors[std::size_t(work)], ink = inkOn(QColor(fill)).rgb();
        const QRect bar = QRect(lane.left() + place.left, lane.top(), place.width() - 1, lane.height()) & lane;
        if (place.right > 0 && place.right <= lane.width())
            for (int y = lane.top(); y <= lane.bottom(); ++y)
                scanLine(image, y)[lane.left() + place.right - 1] = mixed(m_idle, m_panel, 0.5);
        if (bar.width() < kMeasuredPatternFrom)
            return;
        if (const FillPattern pattern = fillPattern(work); pattern != FillPattern::Plain)
            for (int y = bar.top(); y <= bar.bottom(); ++y)
                for (int x = bar.left(); x <= bar.right(); ++x)
                    if (patternInks(pattern, x - lane.left() - place.left, y - lane.top()))
                        scanLine(image, y)[x] = mixed(fill, ink, 0.22);
        const int room = bar.width() - 2 * kLabelPad;
        if (!hasLabels || bar.width() < kLabelFrom * ratio)
            return;
        const QString name = measuredName(*state.measured, span, room / letter);
        if (name.isEmpty() || m_labels.width(name) > room)
            return;
        if (fillPattern(work) != FillPattern::Plain) { // a plain plate keeps the name legible
            QRect plate(0, 0, m_labels.width(name) + kLabelPad, bar.height());
            plate.moveCenter(bar.center());
            for (int y = plate.top(); y <= plate.bottom(); ++y)
                std::fill_n(scanLine(image, y) + plate.left(), plate.width(), fill);
        }
        m_labels.draw(image, bar.center(), name, ink, bar);
    });
}

void MeasuredPainter::paintVectors(
    QPainter &painter, const TimelineState &state, const TrackRow &row, const QRectF &lane)
{
    const int width = int(lane.width());
    const double end = lane.left() + endOf(state, width);
    if (state.measured->areMissing(row.measured)) {
        painter.save();
        painter.setClipRect(QRectF(lane.left(), lane.top(), end - lane.left(), lane.height()), Qt::IntersectClip);
        painter.setPen(QPen(QColor(m_hatch), 1.4));
        for (double x = lane.left() - lane.height(); x < end; x += kHatch)
            painter.drawLine(QPointF(x, lane.bottom()), QPointF(x + lane.height(), lane.top()));
        painter.restore();
        return;
    }
    painter.fillRect(QRectF(lane.left(), lane.top(), end - lane.left(), lane.height()), QColor(m_idle));
    const std::span<const QRgb> pixels = mix(state, row, width);
    for (std::size_t from = 0, to = 0; from < pixels.size(); from = to) {
        while (to < pixels.size() && pixels[to] == pixels[from])
            ++to;
        if (pixels[from] != m_idle && pixels[from] != m_panel)
            painter.fillRect(
                QRectF(lane.left() + double(from), lane.top(), double(to - from), lane.height()), QColor(pixels[from]));
    }
}

} // namespace trainyard
