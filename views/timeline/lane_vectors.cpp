// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/lane_vectors.h"

#include "views/theme/part_colors.h"
#include "views/theme/theme.h"
#include "views/theme/turn_colors.h"
#include "views/timeline/lane_painter.h"
#include "views/timeline/lane_pixels.h"
#include "views/timeline/layer_text.h"
#include "views/timeline/operation_strip.h"

#include <QPaintEngine>
#include <QPainter>

#include <algorithm>

namespace trainyard {

namespace {
constexpr double kGap = 0.6; // between bars that follow at once
constexpr double kLabelRoom = 4;
} // namespace

bool isVector(const QPainter &painter)
{
    const QPaintEngine *engine = painter.paintEngine();
    return engine
        && (engine->type() == QPaintEngine::SVG || engine->type() == QPaintEngine::Pdf
            || engine->type() == QPaintEngine::Picture);
}

void LaneVectors::paint(QPainter &painter, const TimelineState &state, const QRect &tracks)
{
    m_mixer.prepare(state, state.showsCriticalPath);
    if (state.measured)
        m_measured.prepare(state, 1);
    m_path = state.showsCriticalPath ? state.criticalPath : std::vector<std::uint32_t>();
    std::ranges::sort(m_path);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(Qt::NoPen);
    painter.setFont(uiFont(-2));
    for (const TrackRow &row : state.layout.rows) {
        const int top = tracks.top() + rowTop(state.layout, row, state.scroll);
        const int least = tracks.top() + (row.isPinned ? 0 : state.layout.pinnedHeight);
        painter.setClipRect(QRect(tracks.left(), least, tracks.width(), std::max(0, tracks.bottom() + 1 - least)));
        const QRectF bar(tracks.left(), top + row.barTop, tracks.width(), row.barHeight);
        if (bar.bottom() > least && bar.top() <= tracks.bottom())
            paintRow(painter, state, row, bar);
        if (const double end = timeToX(state.timeline()->duration, state.range, bar.left(), bar.width());
            state.measured && end < bar.right()) // the plan is over
            painter.fillRect(QRectF(end, bar.top(), bar.right() - end, bar.height()), theme().panel);
        const QRectF measured(tracks.left(), top + row.measuredTop, tracks.width(), row.measuredHeight);
        if (state.measured && row.measuredHeight > 0 && measured.bottom() > least && measured.top() <= tracks.bottom())
            m_measured.paintVectors(painter, state, row, measured);
        const QRectF ghost(tracks.left(), top + row.ghostTop, tracks.width(), row.ghostHeight);
        if (row.ghostHeight > 0 && ghost.bottom() > least && ghost.top() <= tracks.bottom())
            paintRuns(painter, m_mixer.ghost(state, row, tracks.width()), ghost, theme().panel.rgb());
    }
    painter.restore();
}

void LaneVectors::paintRow(QPainter &painter, const TimelineState &state, const TrackRow &row, const QRectF &bar)
{
    painter.fillRect(bar, QColor(m_mixer.idle()));
    const int width = int(bar.width());
    if (m_mixer.isDense(state, row, state.range, width) && bar.height() >= kShareFrom)
        return paintShares(painter, state, row, bar);
    const bool areFew =
        row.kind != TrackRow::Kind::Summary && std::ranges::all_of(row.tracks, [&](std::uint32_t track) {
            const Track &of = state.timeline()->tracks[track];
            const auto [from, to] = visibleSpans(*state.timeline(), of.first, of.last, state.range);
            return to - from <= std::uint32_t(width);
        });
    if (!areFew)
        return paintRuns(painter, m_mixer.mix(state, row, state.range, width), bar, m_mixer.idle());
    for (auto track = row.tracks.rbegin(); track != row.tracks.rend(); ++track) {
        paintSpans(painter, state, *track, row.hasTurns, bar);
        if (state.focus)
            paintMarks(painter, state, *track, bar);
    }
}

void LaneVectors::paintMarks(QPainter &painter, const TimelineState &state, std::uint32_t index, const QRectF &bar)
{
    const TimeFocus &focus = *state.focus;
    const Track &track = focus.timeline.tracks[index];
    const auto [from, to] = visibleSpans(focus.timeline, track.first, track.last, state.range);
    for (std::uint32_t i = from; i < to; ++i) {
        const double left =
            std::max(bar.left(), timeToX(focus.timeline.start[i], state.range, bar.left(), bar.width()));
        const double right =
            std::min(bar.right(), timeToX(focus.timeline.end[i], state.range, bar.left(), bar.width()));
        painter.fillRect(
            QRectF(left, bar.top(), std::max(0.2, right - left), bar.height()), QColor(m_mixer.fillOf(focus.marks[i])));
    }
}

void LaneVectors::paintSpans(
    QPainter &painter, const TimelineState &state, std::uint32_t index, bool hasTurns, const QRectF &bar)
{
    const Timeline &timeline = *state.timeline();
    const Track &track = timeline.tracks[index];
    const QFontMetricsF metrics(painter.font());
    const auto [from, to] = visibleSpans(timeline, track.first, track.last, state.range);
    for (std::uint32_t span = from; span < to; ++span) {
        const double left = std::max(bar.left(), timeToX(timeline.start[span], state.range, bar.left(), bar.width()));
        const double right = std::min(bar.right(), timeToX(timeline.end[span], state.range, bar.left(), bar.width()));
        const bool isOnPath = std::ranges::binary_search(m_path, span);
        const bool isVivid = isOnPath || m_mixer.isVivid(state, span);
        const QRgb fill = isOnPath && state.jobs.isEmpty() ? theme().work(timeline.kind[span]).rgb()
            : isOnPath || isVivid                          ? m_mixer.fillOf(timeline, span, hasTurns)
                                                           : m_mixer.fadedOf(timeline, span);
        const QRectF box(left, bar.top(), std::max(0.2, right - left - (right - left > 3 ? kGap : 0)), bar.height());
        painter.fillRect(box, QColor(fill));
        const bool isStripped = isVivid && hasStrip(state, span, box.width(), int(bar.height()));
        const double strip = isStripped ? stripHeight(int(bar.height())) : 0;
        if (isStripped)
            for (const OperationPart &part : operationParts(timeline, span)) {
                const double x = std::max(box.left(), timeToX(part.begin, state.range, bar.left(), bar.width()));
                const double end = std::min(box.right(), timeToX(part.end, state.range, bar.left(), bar.width()));
                if (part.part != &Breakdown::compute && end > x)
                    painter.fillRect(QRectF(x, box.bottom() - strip, end - x, strip), partColor(part.part));
            }
        const QString job = state.jobs.name(state.jobs.of(timeline, span));
        const bool hasRoom = !job.isEmpty() && metrics.horizontalAdvance(job) + 2 * kLabelRoom < box.width();
        const QString number = bar.height() < kLabelHeight || !isVivid ? QString()
            : hasRoom                                                  ? job
                                                                       : spanLabel(*state.evaluation, span);
        if (number.isEmpty() || metrics.horizontalAdvance(number) + kLabelRoom > box.width())
            continue;
        painter.setPen(QColor(m_mixer.inkOf(timeline, span, hasTurns)));
        const double middle = box.center().y() - (box.height() - strip >= kLabelHeight ? strip / 2 : 0);
        painter.drawText(
            QPointF(box.center().x() - metrics.horizontalAdvance(number) / 2, middle + metrics.capHeight() / 2),
            number);
        painter.setPen(Qt::NoPen);
    }
}

void LaneVectors::paintShares(QPainter &painter, const TimelineState &state, const TrackRow &row, const QRectF &bar)
{
    const int width = int(bar.width());
    const KindShares &shares = m_mixer.shares(state, row, state.range, width);
    const KindShares::Colors colors = m_mixer.colors();
    const double step = bar.width() / shares.columns();
    for (int c = 0; c < shares.columns(); ++c) {
        double reached = 0;
        shares.visit(c, colors, [&](double share, QRgb color) {
            painter.fillRect(QRectF(bar.left() + c * step, bar.bottom() - (reached + share) * bar.height(), step,
                                 share * bar.height()),
                QColor(color));
            reached += share;
        });
    }
}

void LaneVectors::paintRuns(QPainter &painter, std::span<const QRgb> row, const QRectF &bar, QRgb background)
{
    for (std::size_t from = 0, to = 0; from < row.size(); from = to) {
        while (to < row.size() && row[to] == row[from])
            ++to;
        if (row[from] != background)
            painter.fillRect(
                QRectF(bar.left() + double(from), bar.top(), double(to - from), bar.height()), QColor(row[from]));
    }
}

} // namespace trainyard
