// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/lane_painter.h"

#include "core/timeline/lanes.h"
#include "views/theme/theme.h"
#include "views/theme/turn_colors.h"
#include "views/timeline/state_text.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace trainyard {

namespace {

constexpr double kFade = 0.82;         // of what a filter or the critical path puts back
constexpr int kTellApart = 3;          // pixels from which bars get a gap
constexpr int kPatternFrom = 5;        // pixels from which a pattern reads
constexpr int kLabelPad = 3;
constexpr int kLabelHeight = 9;        // logical pixels of a bar that a number needs
constexpr int kNameFrom = 90;          // logical pixels from which a bar may say its kind

QRgb mix(QRgb a, QRgb b, double share)
{
    const auto channel = [share](int x, int y) { return int(std::lround(x + (y - x) * share)); };
    return qRgb(channel(qRed(a), qRed(b)), channel(qGreen(a), qGreen(b)), channel(qBlue(a), qBlue(b)));
}

QRgb toRgb(ColorLanes lanes)
{
    return qRgb(int(lanes[0]), int(lanes[1]), int(lanes[2]));
}

/// A bar's pixels in its lane, rounded, and its exact ends. Ends outside the lane stay outside, so that a cut bar shows
/// no end there.
struct PixelSpan {
    int left = 0, right = 0;
    double exactLeft = 0, exactRight = 0;
    [[nodiscard]] int width() const { return right - left; }
};

PixelSpan pixelSpan(const Timeline &timeline, std::uint32_t span, TimeInterval range, int width)
{
    const double left = std::max(-8.0, timeToX(timeline.start[span], range, 0, width));
    const double right = std::min(width + 8.0, timeToX(timeline.end[span], range, 0, width));
    return {int(std::lround(left)), int(std::lround(right)), left, right};
}

/// Which turn of its cell each pipeline class has; its number where the layout does not say.
std::vector<int> turnsByClass(const Evaluation &evaluation)
{
    int last = -1;
    for (const Track &track : evaluation.timeline.tracks)
        last = std::max(last, track.pipelineClass);
    const auto &classes = evaluation.layout.classes;
    std::vector<int> turns;
    for (int c = 0; c <= last; ++c)
        turns.push_back(c < int(classes.size()) ? classes[std::size_t(c)].lane : c);
    return turns;
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
    case WorkKind::OffloadLoad:
    case WorkKind::GradientsToHost:
    case WorkKind::StatesToHost:
    case WorkKind::StatesToGpu:
    case WorkKind::WeightsToGpu: return FillPattern::BackHatch;
    case WorkKind::DriveWrite: return FillPattern::Hatch;
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
    m_turnOf = state.evaluation ? turnsByClass(*state.evaluation) : std::vector<int>();
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
    const bool isSummary = row.kind == TrackRow::Kind::Summary;
    std::fill(m_row.begin(), m_row.end(), m_idle);
    if (isSummary)
        blendTracks(state, row.tracks, lane.width);
    for (auto index = row.tracks.rbegin(); !isSummary && index != row.tracks.rend(); ++index) {
        if (row.hasTurns)
            blendTurns(state, *index, lane.width);
        else
            blendTracks(state, {&*index, 1}, lane.width);
        snapBars(state, *index, row.hasTurns, lane.width);
    }
    for (int y = lane.top; y < lane.bottom; ++y)
        std::memcpy(scanLine(image, y) + lane.left, m_row.data(), std::size_t(lane.width) * sizeof(QRgb));
    // Patterns and numbers of the front only: those behind would show through its gaps.
    if (!isSummary)
        paintDetail(image, state, row.tracks.front(), row.hasTurns, lane);
}

void LanePainter::blendTracks(const TimelineState &state, std::span<const std::uint32_t> tracks, int width)
{
    const Timeline &timeline = *state.timeline();
    m_walk.begin(state.range, width);
    for (const std::uint32_t index : tracks) {
        const Track &track = timeline.tracks[index];
        m_walk.add(timeline, track.first, track.last, paletteOf(state, track), m_faded, state.filter);
    }
    m_walk.resolve(m_row, int(tracks.size()));
}

void LanePainter::blendTurns(const TimelineState &state, std::uint32_t index, int width)
{
    const Timeline &timeline = *state.timeline();
    const Track &track = timeline.tracks[index];
    m_walk.begin(state.range, width);
    m_walk.add(timeline, track.first, track.last, [&](std::uint32_t span) {
        return isVivid(state, span) ? toLanes(QColor(fillOf(timeline, span, true))) : m_faded[std::size_t(timeline.kind[span])];
    });
    m_walk.resolve(m_row);
}

QRgb LanePainter::fillOf(const Timeline &timeline, std::uint32_t span, bool hasTurns) const
{
    const WorkKind kind = timeline.kind[span];
    return hasTurns && kind == WorkKind::WanTransfer ? turnShade(theme().work(kind), m_turnOf[std::size_t(sendingLane(timeline, span))]).rgb() : toRgb(m_vivid[std::size_t(kind)]);
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
    std::fill(m_row.begin(), m_row.end(), m_panel);
    m_walk.resolve(m_row);
    for (int y = lane.top; y < lane.bottom; ++y)
        std::memcpy(scanLine(image, y) + lane.left, m_row.data(), std::size_t(lane.width) * sizeof(QRgb));
}

std::pair<std::uint32_t, std::uint32_t> LanePainter::distinctSpans(const TimelineState &state, std::uint32_t index, int width) const
{
    const Timeline &timeline = *state.timeline();
    const auto [from, to] = visibleSpans(timeline, timeline.tracks[index].first, timeline.tracks[index].last, state.range);
    return to - from > std::uint32_t(width) / 2 ? std::pair{from, from} : std::pair{from, to};
}

void LanePainter::snapBars(const TimelineState &state, std::uint32_t index, bool hasTurns, int width)
{
    const Timeline &timeline = *state.timeline();
    const QRgb gap = mix(m_idle, m_panel, 0.5);
    const auto [from, to] = distinctSpans(state, index, width);
    for (std::uint32_t i = from; i < to; ++i) {
        const PixelSpan bar = pixelSpan(timeline, i, state.range, width);
        if (bar.width() < kTellApart)
            continue;
        const QRgb fill = isVivid(state, i) ? fillOf(timeline, i, hasTurns) : toRgb(m_faded[std::size_t(timeline.kind[i])]);
        const auto put = [&](int x, QRgb color) {
            if (x >= 0 && x < width)
                m_row[std::size_t(x)] = color;
        };
        for (int x = std::max(0, bar.left); x < std::min(width, bar.right - 1); ++x)
            m_row[std::size_t(x)] = fill;
        put(bar.right - 1, gap);
        // What the blend left of this bar in the columns beside its rounded ends.
        if (bar.exactRight > bar.right)
            put(bar.right, m_idle);
        if (bar.exactLeft < bar.left && bar.left > 0 && (i == from || timeline.end[i - 1] < timeline.start[i]))
            put(bar.left - 1, m_idle);
    }
}

void LanePainter::paintDetail(QImage &image, const TimelineState &state, std::uint32_t index, bool hasTurns, const Lane &lane)
{
    const Timeline &timeline = *state.timeline();
    const QRect all(lane.left, lane.top, lane.width, lane.bottom - lane.top);
    const auto [from, to] = distinctSpans(state, index, lane.width);
    for (std::uint32_t i = from; i < to; ++i) {
        const PixelSpan pixels = pixelSpan(timeline, i, state.range, lane.width);
        if (pixels.width() < kPatternFrom || !isVivid(state, i))
            continue;
        const QRect bar(lane.left + pixels.left, lane.top, pixels.width() - 1, all.height());
        const QRgb fill = fillOf(timeline, i, hasTurns);
        const QRgb ink = hasTurns ? inkOn(QColor(fill)).rgb() : theme().workInk(timeline.kind[i]).rgb();
        if (bar.height() >= 8) {
            for (const QPoint corner : {bar.topLeft(), bar.bottomLeft(), bar.topRight(), bar.bottomRight()}) {
                if (all.contains(corner))
                    scanLine(image, corner.y())[corner.x()] = mix(fill, m_idle, 0.6);
            }
        }
        paintPattern(image, bar, bar & all, timeline.kind[i], fill, ink);
        paintLabel(image, state, i, bar & all, std::min(pixels.exactRight, double(lane.width)) - std::max(pixels.exactLeft, 0.0) - 1, fill, ink);
    }
}

void LanePainter::paintPattern(QImage &image, const QRect &bar, const QRect &clip, WorkKind kind, QRgb fill, QRgb inkColor)
{
    const FillPattern pattern = fillPattern(kind);
    if (pattern == FillPattern::Plain)
        return;
    const QRgb ink = mix(fill, inkColor, 0.28);
    for (int y = clip.top(); y <= clip.bottom(); ++y) {
        QRgb *line = scanLine(image, y);
        for (int x = clip.left(); x <= clip.right(); ++x) {
            if (patternInks(pattern, x - bar.left(), y - bar.top()))
                line[x] = ink;
        }
    }
}

namespace {

/// The micro-batch as people count, both of a pair.
QString microBatchLabel(const Timeline &timeline, std::uint32_t span)
{
    QString label = QString::number(timeline.microBatch[span] + 1);
    if (timeline.kind[span] == WorkKind::ForwardBackward)
        label += u'+' + QString::number(timeline.pairedMicroBatch[span] + 1);
    return label;
}

} // namespace

void LanePainter::paintLabel(QImage &image, const TimelineState &state, std::uint32_t span, const QRect &clip, double room, QRgb fill, QRgb ink)
{
    const Timeline &timeline = *state.timeline();
    const double ratio = image.devicePixelRatio();
    if (clip.height() < kLabelHeight * ratio || clip.width() < kLabelPad)
        return;
    const WorkKind kind = timeline.kind[span];
    if (timeline.microBatch[span] < 0) {
        // A GPU that waits for its host must not look as if it worked.
        const QString place = optimizerPlace(*state.evaluation, span);
        for (const QString &text : {QString::fromUtf8(toString(kind)) + u' ' + place, place}) {
            if (!place.isEmpty() && m_labels.width(text) + 4 * kLabelPad < clip.width())
                return m_labels.draw(image, clip.center(), text, ink, clip);
        }
        return;
    }
    const QString number = microBatchLabel(timeline, span);
    const int width = m_labels.width(QString(number.size(), u'0'));
    const bool patterned = fillPattern(kind) != FillPattern::Plain;
    if (room < width + (patterned ? 4 * kLabelPad : 0))
        return;
    QString text = number;
    if (clip.width() >= kNameFrom * ratio) {
        const QString named = QString::fromUtf8(toString(kind)) + u' ' + number;
        if (m_labels.width(named) + 4 * kLabelPad < clip.width())
            text = named;
    }
    if (patterned) {   // a plain plate keeps the number legible
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
        const QString number = microBatchLabel(timeline, span);
        if (timeline.microBatch[span] >= 0 && device.height() >= 9 * ratio && device.width() >= m_labels.width(number) + kLabelPad)
            m_labels.draw(image, device.center(), number, theme().workInk(kind).rgb(), device);
    }
}

} // namespace trainyard
