// SPDX-License-Identifier: GPL-3.0-or-later
// What TimelineView does where the pointer is, and what it says about the span that was chosen.
#include "core/engine/timeline/analysis.h"
#include "views/theme/job_colors.h"
#include "views/theme/part_colors.h"
#include "views/theme/theme.h"
#include "views/timeline/area_table.h"
#include "views/timeline/chart_canvas.h"
#include "views/timeline/measured_text.h"
#include "views/timeline/overlay_painter.h"
#include "views/timeline/span_card.h"
#include "views/timeline/span_text.h"
#include "views/timeline/timeline_view.h"

#include <QAccessible>

#include <algorithm>
#include <utility>

namespace trainyard {

void TimelineView::pointAt(QPoint point)
{
    const ChartGeometry geometry = m_canvas->geometry();
    const bool inside = !m_state.isEmpty() && geometry.tracks.united(geometry.ruler).contains(point);
    m_pointedRow = m_state.isEmpty() || !m_canvas->rect().contains(point)
        ? -1
        : rowAt(m_state.layout, point.y() - geometry.tracks.top(), m_state.scroll);
    const auto oldPointer = m_state.pointer;
    m_state.pointer = inside ? std::optional(geometry.time(m_state, point.x() + 0.5)) : std::nullopt;
    // Only the two lines and the ruler's flags change.
    for (const auto &time : { oldPointer, m_state.pointer }) {
        if (time)
            m_canvas->update(QRectF(geometry.x(m_state, *time) - 2, 0, 4, m_canvas->height()).toAlignedRect());
    }
    if (oldPointer != m_state.pointer)
        m_canvas->update(geometry.ruler.adjusted(0, 0, 16, 0));
    hover(inside ? spanUnder(m_state, geometry, point) : kNoSpan, point);
    if (m_state.measured)
        hoverMeasured(inside ? point : QPoint(-1, -1));
    if (oldPointer != m_state.pointer)
        emit cursorMoved(m_state.pointer.value_or(kNoCursor));
}

void TimelineView::showCursor(qint64 time)
{
    const auto cursor = time == kNoCursor ? std::nullopt : std::optional<Nanoseconds>(time);
    const auto before = std::exchange(m_state.cursor, cursor);
    if (m_state.isEmpty() || before == cursor)
        return;
    const ChartGeometry geometry = m_canvas->geometry();
    for (const auto &at : { before, cursor }) {
        if (at)
            m_canvas->update(QRectF(geometry.x(m_state, *at) - 2, 0, 4, m_canvas->height()).toAlignedRect());
    }
    m_canvas->update(geometry.ruler.adjusted(0, 0, 16, 0));
}

void TimelineView::hover(std::uint32_t span, QPoint point)
{
    if (span != m_state.hovered) {
        const ChartGeometry geometry = m_canvas->geometry();
        m_canvas->update(hoverRect(m_state, geometry, m_state.hovered));
        m_state.hovered = span;
        m_canvas->update(hoverRect(m_state, geometry, span));
        if (span != kNoSpan) {
            const Evaluation &evaluation = *m_state.evaluation;
            const int job = m_state.jobs.of(evaluation.timeline, span);
            m_card->setContent(job < 0 ? theme().work(evaluation.timeline.kind[span]) : jobColor(job),
                spanTitle(evaluation, span), spanFacts(evaluation, span, isCritical(span)));
        }
    }
    const std::uint32_t wait = span == kNoSpan ? waitUnder(m_state, m_canvas->geometry(), point) : kNoSpan;
    if (span != kNoSpan)
        showCard(span, point);
    else if (wait != kNoSpan)
        showWait(wait, point);
    else
        m_card->hide();
}

void TimelineView::showCard(std::uint32_t span, QPoint point)
{
    if (m_state.showsInside)
        m_card->setParts(partLines(*m_state.timeline(), span), partUnder(m_state, m_canvas->geometry(), span, point));
    m_card->showNear(m_canvas->mapTo(this, point));
}

void TimelineView::showWait(std::uint32_t mark, QPoint point)
{
    const TimeFocus &focus = *m_state.focus;
    const BreakdownPart part = focus.partOf(mark);
    const Track &track = m_state.timeline()->tracks[focus.trackOf(mark)];
    m_card->setContent(focusColors()[focus.marks[mark].paint],
        tr("Waiting · %1 · stage %2").arg(partName(part)).arg(track.stage + 1),
        waitFacts(*m_state.evaluation, focus.marks[mark].span, focus.timeline.start[mark], focus.timeline.end[mark],
            part != &Breakdown::bubble));
    m_card->showNear(m_canvas->mapTo(this, point));
}

void TimelineView::click(QPoint point)
{
    const ChartGeometry geometry = m_canvas->geometry();
    if (geometry.gutter.contains(point)) {
        if (foldAt(point))
            return;
        const int row = rowAt(m_state.layout, point.y() - geometry.tracks.top(), m_state.scroll);
        if (row >= 0 && !m_state.layout.rows[std::size_t(row)].tracks.empty())
            emit stageClicked(m_state.timeline()->tracks[m_state.layout.rows[std::size_t(row)].tracks.front()].stage);
        return;
    }
    const std::uint32_t measured = measuredUnder(m_state, geometry, point);
    selectMeasured(measured);
    if (measured != kNoSpan)
        return;
    const std::uint32_t span = spanUnder(m_state, geometry, point), wait = waitUnder(m_state, geometry, point);
    selectSpan(span == kNoSpan && wait != kNoSpan ? m_state.focus->marks[wait].span : span); // who waits
}

void TimelineView::selectSpan(std::uint32_t span)
{
    m_isFocusSelected = false;
    if (m_state.isEmpty() || (span != kNoSpan && span >= m_state.timeline()->spanCount()))
        span = kNoSpan;
    if (span != kNoSpan)
        selectMeasured(kNoSpan);
    if (span == m_state.selected)
        return;
    m_state.selected = span;
    if (!m_state.jobs.isEmpty())
        selectJob(span == kNoSpan ? JobSpans::kNone : m_state.jobs.of(*m_state.timeline(), span));
    collectEffects();
    m_canvas->update();
    describe();
    emit spanSelected(span);
}

void TimelineView::collectEffects()
{
    const std::uint32_t span = m_state.selected;
    m_state.effects.clear();
    if (span != kNoSpan) {
        const auto &cause = m_state.timeline()->cause;
        for (auto at = std::find(cause.begin(), cause.end(), span); at != cause.end();
             at = std::find(at + 1, cause.end(), span))
            m_state.effects.push_back(std::uint32_t(at - cause.begin()));
        const auto &start = m_state.timeline()->start;
        std::sort(m_state.effects.begin(), m_state.effects.end(), [&](auto a, auto b) { return start[a] < start[b]; });
    }
}

void TimelineView::ensureCriticalPath()
{
    if (m_knowsCriticalPath || m_state.isEmpty())
        return;
    m_state.criticalPath = criticalPath(*m_state.timeline());
    m_sortedPath = m_state.criticalPath;
    std::sort(m_sortedPath.begin(), m_sortedPath.end());
    m_knowsCriticalPath = true;
}

bool TimelineView::isCritical(std::uint32_t span)
{
    ensureCriticalPath();
    return std::binary_search(m_sortedPath.begin(), m_sortedPath.end(), span);
}

void TimelineView::describe()
{
    QString text = m_state.isEmpty() ? tr("No timeline. %1").arg(emptyReason(m_state.evaluation.get(), m_state.failure))
                                     : tr("%1, %2 rows in %3 datacenters.")
                                           .arg(timelineSummary(*m_state.evaluation))
                                           .arg(m_state.layout.rows.size())
                                           .arg(m_state.layout.groups.size());
    if (m_state.selected != kNoSpan)
        text = spanTitle(*m_state.evaluation, m_state.selected) + QStringLiteral(". ")
            + spanFacts(*m_state.evaluation, m_state.selected, isCritical(m_state.selected)).join(QStringLiteral(". "))
            + QStringLiteral(". ") + text;
    if (const QString run = runSummary(m_state); !run.isEmpty())
        text += u' ' + run.left(1).toUpper() + run.mid(1) + u'.';
    if (m_state.selectedMeasured != kNoSpan)
        text = measuredTitle(*m_state.measured, m_state.selectedMeasured) + QStringLiteral(". ")
            + linesOf(measuredFacts(m_state, m_state.selectedMeasured)).join(QStringLiteral(". "))
            + QStringLiteral(". ") + text;
    if (m_state.focus)
        text = m_state.focus->text() + QStringLiteral(". ") + text;
    setAccessibleDescription(text);
    if (QAccessible::isActive()) {
        QAccessibleEvent event(this, QAccessible::DescriptionChanged);
        QAccessible::updateAccessibility(&event);
    }
}

} // namespace trainyard
