// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/lane_painter.h"

#include "views/theme/theme.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace trainyard {

namespace {

constexpr double kFade = 0.82;         // of what a filter or the critical path puts back
constexpr int kTellApart = 3;          // pixels from which bars get a gap
constexpr int kPatternFrom = 5;        // pixels from which a pattern reads
constexpr int kLabelPad = 4;

QRgb mix(QRgb a, QRgb b, double share)
{
    const auto channel = [share](int x, int y) { return int(std::lround(x + (y - x) * share)); };
    return qRgb(channel(qRed(a), qRed(b)), channel(qGreen(a), qGreen(b)), channel(qBlue(a), qBlue(b)));
}

QRgb toRgb(ColorLanes lanes)
{
    return qRgb(int(lanes[0]), int(lanes[1]), int(lanes[2]));
}

QRgb *scanLine(QImage &image, int y)
{
    return reinterpret_cast<QRgb *>(image.scanLine(y));
}

} // namespace

FillPattern fillPattern(WorkKind kind)
{
    switch (kind) {
    case WorkKind::Recompute: return FillPattern::Hatch;
    case WorkKind::OffloadStore:
    case WorkKind::OffloadLoad: return FillPattern::BackHatch;
    case WorkKind::PipelineTransfer:
    case WorkKind::WanTransfer: return FillPattern::Dots;
    case WorkKind::GradientReduce:
    case WorkKind::ParameterGather:
    case WorkKind::Collective: return FillPattern::Lines;
    default: return FillPattern::Plain;
    }
}

bool patternInks(FillPattern pattern, int x, int y)
{
    switch (pattern) {
    case FillPattern::Hatch: return (x + y) % 6 < 2;
    case FillPattern::BackHatch: return (x - y + 6000) % 6 < 2;
    case FillPattern::Dots: return x % 4 == 1 && y % 4 == (x % 8 < 4 ? 1 : 3);
    case FillPattern::Lines: return y % 4 == 1;
    case FillPattern::Plain: break;
    }
    return false;
}

void LanePainter::preparePalettes(const TimelineState &state)
{
    const Theme &t = theme();
    m_idle = t.idle.rgb();
    m_panel = t.panel.rgb();
    for (int k = 0; k < kWorkKindCount; ++k) {
        const QRgb color = t.work(WorkKind(k)).rgb();
        const auto slot = std::size_t(k);
        m_faded[slot] = toLanes(QColor(mix(color, m_idle, kFade)));
        m_vivid[slot] = state.filter.hasKind(WorkKind(k)) && !state.showsCriticalPath ? toLanes(QColor(color)) : m_faded[slot];
        m_ghost[slot] = toLanes(QColor(mix(color, m_panel, 0.45)));
    }
}

const WorkPalette &LanePainter::paletteOf(const TimelineState &state, const Track &track) const
{
    return state.filter.matchesTrack(track) ? m_vivid : m_faded;
}

bool LanePainter::isVivid(const TimelineState &state, std::uint32_t span) const
{
    return !state.showsCriticalPath && state.filter.matches(*state.timeline(), span);
}

void LanePainter::paint(QImage &image, const TimelineState &state, const QRect &tracks)
{
    preparePalettes(state);
    const double ratio = image.devicePixelRatio();
    m_labels.setFont(uiFont(-2), ratio);
    const auto device = [ratio](int logical) { return int(std::lround(logical * ratio)); };
    const Lane all{device(tracks.left()), device(tracks.width()), device(tracks.top()), device(tracks.bottom() + 1)};
    m_row.resize(std::size_t(all.width));
    for (const TrackRow &row : state.layout.rows) {
        const int top = tracks.top() + rowTop(state.layout, row, state.scroll);
        const int least = tracks.top() + (row.isPinned ? 0 : state.layout.pinnedHeight);
        const auto lane = [&](int from, int height) {
            return Lane{all.left, all.width, std::max(device(top + from), device(least)), std::min(device(top + from + height), all.bottom)};
        };
        const Lane bar = lane(row.barTop, row.barHeight);
        if (bar.top < bar.bottom)
            paintRow(image, state, row, bar);
        const Lane ghost = lane(row.ghostTop, row.ghostHeight);
        if (ghost.top < ghost.bottom)
            paintGhost(image, state, row, ghost);
    }
    if (state.showsCriticalPath)
        paintCriticalPath(image, state, tracks);
}

void LanePainter::paintRow(QImage &image, const TimelineState &state, const TrackRow &row, const Lane &lane)
{
    const Timeline &timeline = *state.timeline();
    m_walk.begin(state.range, lane.width);
    for (const std::uint32_t index : row.tracks) {
        const Track &track = timeline.tracks[index];
        m_walk.add(timeline, track.first, track.last, paletteOf(state, track), m_faded, state.filter);
    }
    const bool isSummary = row.kind == TrackRow::Kind::Summary;
    m_walk.resolve(m_row, m_idle, isSummary ? std::max(1, int(row.tracks.size())) : 1);
    for (int y = lane.top; y < lane.bottom; ++y)
        std::memcpy(scanLine(image, y) + lane.left, m_row.data(), std::size_t(lane.width) * sizeof(QRgb));
    if (isSummary)
        return;
    for (const std::uint32_t index : row.tracks)
        paintDetail(image, state, index, lane);
}

void LanePainter::paintGhost(QImage &image, const TimelineState &state, const TrackRow &row, const Lane &lane)
{
    const Timeline &baseline = state.baseline->timeline;
    const int index = sameTrack(baseline, state.timeline()->tracks[row.tracks.front()]);
    m_walk.begin(state.range, lane.width);
    if (index >= 0) {
        const Track &track = baseline.tracks[std::size_t(index)];
        m_walk.add(baseline, track.first, track.last, m_ghost);
    }
    m_walk.resolve(m_row, m_panel, 1);
    for (int y = lane.top; y < lane.bottom; ++y)
        std::memcpy(scanLine(image, y) + lane.left, m_row.data(), std::size_t(lane.width) * sizeof(QRgb));
}

void LanePainter::paintDetail(QImage &image, const TimelineState &state, std::uint32_t index, const Lane &lane)
{
    const Timeline &timeline = *state.timeline();
    const auto [from, to] = visibleSpans(timeline, timeline.tracks[index].first, timeline.tracks[index].last, state.range);
    if (to - from > std::uint32_t(lane.width) / 2)
        return;
    for (std::uint32_t i = from; i < to; ++i) {
        // Bars cut by the chart's edge keep their far end outside, so that they show no end there.
        const double x0 = std::max(-4.0, timeToX(timeline.start[i], state.range, 0, lane.width));
        const double x1 = std::min(lane.width + 4.0, timeToX(timeline.end[i], state.range, 0, lane.width));
        const int left = int(std::lround(x0)), right = int(std::lround(x1));
        if (right - left >= kTellApart)
            paintBar(image, state, i, QRect(lane.left + left, lane.top, right - left, lane.bottom - lane.top), lane);
    }
}

void LanePainter::paintBar(QImage &image, const TimelineState &state, std::uint32_t span, const QRect &bar, const Lane &lane)
{
    const Timeline &timeline = *state.timeline();
    const WorkKind kind = timeline.kind[span];
    const bool vivid = isVivid(state, span);
    const QRect clip = bar & QRect(lane.left, lane.top, lane.width, lane.bottom - lane.top);
    const QRgb fill = toRgb((vivid ? m_vivid : m_faded)[std::size_t(kind)]);
    const int gap = bar.right();
    if (gap >= clip.left() && gap <= clip.right()) {
        for (int y = clip.top(); y <= clip.bottom(); ++y)
            scanLine(image, y)[gap] = mix(scanLine(image, y)[gap], m_panel, 0.75);
    }
    if (vivid && bar.width() >= 6 && bar.height() >= 8) {
        for (const QPoint corner : {bar.topLeft(), bar.bottomLeft(), bar.topRight() - QPoint(1, 0), bar.bottomRight() - QPoint(1, 0)}) {
            if (clip.contains(corner))
                scanLine(image, corner.y())[corner.x()] = mix(fill, m_idle, 0.6);
        }
    }
    const FillPattern pattern = fillPattern(kind);
    if (vivid && pattern != FillPattern::Plain && bar.width() >= kPatternFrom) {
        const QRgb ink = mix(fill, theme().workInk(kind).rgb(), 0.28);
        const int right = std::min(clip.right(), gap - 1);
        for (int y = clip.top(); y <= clip.bottom(); ++y) {
            QRgb *line = scanLine(image, y);
            for (int x = clip.left(); x <= right; ++x) {
                if (patternInks(pattern, x - bar.left(), y - lane.top))
                    line[x] = ink;
            }
        }
    }
    if (!vivid || timeline.microBatch[span] < 0 || bar.height() < 9 * image.devicePixelRatio())
        return;
    const QString number = QString::number(timeline.microBatch[span] + 1);
    if (clip.width() < m_labels.width(number) + kLabelPad)
        return;
    const QString named = QString::fromUtf8(toString(kind)) + u' ' + number;
    const bool hasRoom = clip.width() >= 90 * image.devicePixelRatio() && m_labels.width(named) + 4 * kLabelPad < clip.width();
    m_labels.draw(image, clip.center(), hasRoom ? named : number, theme().workInk(kind).rgb(), clip);
}

void LanePainter::paintCriticalPath(QImage &image, const TimelineState &state, const QRect &tracks)
{
    const Timeline &timeline = *state.timeline();
    const double ratio = image.devicePixelRatio();
    const ChartGeometry geometry{{}, {}, tracks};
    const QRect clip(QPoint(int(tracks.left() * ratio), int((tracks.top() + state.layout.pinnedHeight) * ratio)),
                     QPoint(int((tracks.right() + 1) * ratio) - 1, int((tracks.bottom() + 1) * ratio) - 1));
    const WorkPalette &faded = m_faded;
    for (const std::uint32_t span : state.criticalPath) {
        if (timeline.end[span] <= state.range.begin || timeline.start[span] >= state.range.end)
            continue;
        const QRectF rect = spanRect(state, geometry, span);
        const QRect device = QRectF(rect.x() * ratio, rect.y() * ratio, rect.width() * ratio, rect.height() * ratio).toRect() & clip;
        const WorkKind kind = timeline.kind[span];
        const QRgb color = state.filter.hasKind(kind) ? theme().work(kind).rgb() : toRgb(faded[std::size_t(kind)]);
        const int width = std::max(1, device.width() - (device.width() >= kTellApart ? 1 : 0));
        for (int y = device.top(); y <= device.bottom(); ++y)
            std::fill_n(scanLine(image, y) + device.left(), device.isEmpty() ? 0 : width, color);
        const QString number = QString::number(timeline.microBatch[span] + 1);
        if (timeline.microBatch[span] >= 0 && device.height() >= 9 * ratio && device.width() >= m_labels.width(number) + kLabelPad)
            m_labels.draw(image, device.center(), number, theme().workInk(kind).rgb(), device);
    }
}

} // namespace trainyard
