// SPDX-License-Identifier: GPL-3.0-or-later
// A recorded run under TimelineView's plan: its rows come and go, its spans are pointed at and chosen.
#include "views/theme/recorded_colors.h"
#include "views/timeline/chart_canvas.h"
#include "views/timeline/legend.h"
#include "views/timeline/measured_text.h"
#include "views/timeline/overlay_painter.h"
#include "views/timeline/span_card.h"
#include "views/timeline/timeline_view.h"

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

/// The same span of rows that were made anew, as for another schedule of the same plan.
std::uint32_t sameMeasured(const MeasuredLanesPtr &from, std::uint32_t span, const MeasuredLanesPtr &to)
{
    if (span == kNoSpan || !from || !to || from->overlay->run != to->overlay->run
        || from->overlay->step != to->overlay->step)
        return kNoSpan;
    const MeasuredRow &before = from->row(from->rowOf(span));
    const int row = to->find(before.key);
    return row >= 0 && to->row(row).shown == before.shown && to->row(row).size() == before.size()
        ? to->spanOf(row, from->numberOf[span])
        : kNoSpan;
}

} // namespace

void TimelineView::setOverlay(RunOverlayPtr overlay)
{
    MeasuredLanesPtr lanes = lanesUnderPlan(overlay);
    setOverlay(std::move(overlay), std::move(lanes));
}

void TimelineView::setOverlay(RunOverlayPtr overlay, MeasuredLanesPtr lanes)
{
    if (overlay == m_state.overlay)
        return;
    m_lanes = std::move(lanes);
    const bool had = std::exchange(m_state.overlay, std::move(overlay)) != nullptr;
    takeOverlay();
    if (had != (m_state.overlay != nullptr))
        emit measuredShownChanged();
}

void TimelineView::toggleMeasured()
{
    if (!m_state.overlay)
        return;
    m_state.showsMeasured = !m_state.showsMeasured;
    takeOverlay();
    emit measuredShownChanged();
}

void TimelineView::takeOverlay()
{
    const MeasuredLanesPtr before = m_state.measured;
    const std::uint32_t selected = m_state.selectedMeasured;
    m_state.measured = m_state.showsMeasured ? m_lanes : nullptr;
    m_options.measured = m_state.measured;
    m_state.hoveredMeasured = kNoSpan; // span numbers mean something else now
    m_state.selectedMeasured = sameMeasured(before, selected, m_state.measured);
    m_card->hide();
    m_legend->setRun(m_state.overlay != nullptr, m_state.showsMeasured, m_state.measured ? m_state.measured->works : 0);
    const TimeInterval oldWhole = m_state.whole;
    m_state.whole = wholeTime();
    relayout();
    m_canvas->measureAnew(); // other ranks may be named in the same rows
    setRange(m_state.range == oldWhole ? m_state.whole : clamped(m_state.range, m_state.whole));
    if (m_state.area)
        finishArea(); // the table counts what is drawn
    describe();
    if (selected != kNoSpan && m_state.selectedMeasured == kNoSpan)
        emit measuredSelected({}, {});
}

TimeInterval TimelineView::wholeTime() const
{
    Nanoseconds end = m_state.evaluation ? m_state.evaluation->timeline.duration : 0;
    if (m_state.baseline)
        end = std::max(end, m_state.baseline->timeline.duration);
    if (!m_state.isEmpty() && m_state.overlay && m_state.showsMeasured)
        end = std::max(end, endOf(*m_state.overlay));
    return { 0, end };
}

void TimelineView::hoverMeasured(QPoint point)
{
    const ChartGeometry geometry = m_canvas->geometry();
    const std::uint32_t span = measuredUnder(m_state, geometry, point);
    if (span != m_state.hoveredMeasured) {
        m_canvas->update(measuredHoverRect(m_state, geometry, m_state.hoveredMeasured));
        m_state.hoveredMeasured = span;
        m_canvas->update(measuredHoverRect(m_state, geometry, span));
    }
    if (span != kNoSpan)
        return showMeasured(span, point);
    const int index = measuredRowUnder(m_state, geometry, point);
    if (index < 0)
        return;
    const TrackRow &row = m_state.layout.rows[std::size_t(index)];
    const QString missing = missingText(*m_state.measured, row);
    if (missing.isEmpty() || geometry.time(m_state, point.x()) > m_state.measured->end)
        return;
    m_card->setContent(recordedColor(RecordedWork::Wait),
        row.label + QStringLiteral(" · ") + measuredLabel(*m_state.measured, row), { missing });
    m_card->showNear(m_canvas->mapTo(this, point));
}

void TimelineView::showMeasured(std::uint32_t span, QPoint point)
{
    m_card->setContent(recordedColor(m_state.measured->workOf(span)), measuredTitle(*m_state.measured, span),
        linesOf(measuredFacts(m_state, span)));
    m_card->showNear(m_canvas->mapTo(this, point));
}

void TimelineView::selectMeasured(std::uint32_t span)
{
    if (span == m_state.selectedMeasured)
        return;
    if (span != kNoSpan)
        selectSpan(kNoSpan);
    m_state.selectedMeasured = span;
    m_canvas->update();
    describe();
    if (span == kNoSpan)
        emit measuredSelected({}, {});
    else
        emit measuredSelected(measuredTitle(*m_state.measured, span), measuredFacts(m_state, span));
}

/// The next one of its lane, among those of its kind.
void TimelineView::stepMeasured(int by)
{
    const std::uint32_t span = m_state.selectedMeasured;
    const Timeline &timeline = m_state.measured->timeline;
    const auto track = std::ranges::upper_bound(timeline.tracks, span, {}, &Track::last);
    if (track == timeline.tracks.end() || (by < 0 ? span == track->first : span + 1 == track->last))
        return;
    selectMeasured(span + std::uint32_t(by));
    revealRow(rowOfMeasured(m_state, m_state.selectedMeasured), measuredTime(m_state.selectedMeasured));
}

void TimelineView::revealRank(int rank)
{
    if (!m_state.measured)
        return;
    const std::vector<MeasuredRow> &measured = m_state.measured->overlay->rows;
    for (int r = m_state.layout.pinnedCount; r < int(m_state.layout.rows.size()); ++r) {
        const TrackRow &row = m_state.layout.rows[std::size_t(r)];
        const bool hasIt = std::ranges::any_of(
            row.measured, [&](std::uint32_t of) { return std::ranges::binary_search(measured[of].ranks, rank); });
        if (hasIt && row.kind != TrackRow::Kind::Summary)
            return revealRow(r, m_state.range);
    }
}

TimeInterval TimelineView::measuredTime(std::uint32_t span) const
{
    return { m_state.measured->timeline.start[span], m_state.measured->timeline.end[span] };
}

} // namespace trainyard
