// SPDX-License-Identifier: GPL-3.0-or-later
// The commands of TimelineView and the keys that it answers while it has the focus.
#include "core/engine/timeline/analysis.h"
#include "models/text/format.h"
#include "views/timeline/area_table.h"
#include "views/timeline/chart_canvas.h"
#include "views/timeline/legend.h"
#include "views/timeline/minimap.h"
#include "views/timeline/span_card.h"
#include "views/timeline/timeline_view.h"

#include <QKeyEvent>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {
constexpr double kZoomStep = 1.5;
constexpr double kPanStep = 0.15; // of the visible range
constexpr int kScrollStep = 36; // pixels
constexpr double kRoomAround = 0.5; // of a span's length on each side when zoomed to
} // namespace

void TimelineView::fit()
{
    setRange(m_state.whole);
}

void TimelineView::zoomBy(double factor)
{
    Nanoseconds anchor = (m_state.range.begin + m_state.range.end) / 2;
    if (m_state.pointer)
        anchor = *m_state.pointer;
    else if (m_state.selected != kNoSpan && m_state.range.contains(m_state.timeline()->start[m_state.selected]))
        anchor = m_state.timeline()->start[m_state.selected];
    setRange(zoomed(m_state.range, factor, anchor, m_state.whole));
}

void TimelineView::panBy(double share)
{
    setRange(panned(m_state.range, Nanoseconds(std::llround(share * double(m_state.range.length()))), m_state.whole));
}

void TimelineView::zoomIn()
{
    zoomBy(kZoomStep);
}
void TimelineView::zoomOut()
{
    zoomBy(1 / kZoomStep);
}
void TimelineView::panLeft()
{
    panBy(-kPanStep);
}
void TimelineView::panRight()
{
    panBy(kPanStep);
}
void TimelineView::scrollUp()
{
    setScroll(m_state.scroll - kScrollStep);
}
void TimelineView::scrollDown()
{
    setScroll(m_state.scroll + kScrollStep);
}

void TimelineView::zoomToSelection()
{
    if (m_state.isEmpty())
        return;
    const std::uint32_t span = m_state.selected != kNoSpan ? m_state.selected : m_state.hovered;
    TimeInterval target;
    if (m_state.area)
        target = m_state.area->time;
    else if (m_state.selected != kNoSpan || m_isFocusSelected)
        target = selectedTime();
    else if (m_state.selectedMeasured != kNoSpan)
        target = measuredTime(m_state.selectedMeasured);
    else if (span != kNoSpan)
        target = { m_state.timeline()->start[span], m_state.timeline()->end[span] };
    if (target.isEmpty())
        return fit();
    if (!m_state.area)
        target = around(target);
    target = clamped(target, m_state.whole);
    setRange(target == m_state.range ? m_state.whole : target);
    if (m_isFocusSelected)
        m_atFocus = { m_state.range, m_state.scroll }; // Esc goes back from here too
    else if (span != kNoSpan)
        reveal(span);
}

TimeInterval TimelineView::selectedTime() const
{
    if (m_state.focus && m_isFocusSelected)
        return { m_state.focus->largest.begin, m_state.focus->largest.end };
    return { m_state.timeline()->start[m_state.selected], m_state.timeline()->end[m_state.selected] };
}

TimeInterval TimelineView::around(TimeInterval time)
{
    const auto room = Nanoseconds(double(time.length()) * kRoomAround);
    return { time.begin - room, time.end + room };
}

void TimelineView::reveal(std::uint32_t span)
{
    const Timeline &timeline = *m_state.timeline();
    reveal(timeline.trackOf[span], { timeline.start[span], timeline.end[span] });
}

void TimelineView::reveal(std::uint32_t track, TimeInterval of)
{
    revealRow(m_state.layout.rowOfTrack[track], of);
}

void TimelineView::revealRow(int index, TimeInterval of)
{
    if (of.end <= m_state.range.begin || of.begin >= m_state.range.end
        || (of.begin < m_state.range.begin && of.end < m_state.range.end)) {
        const Nanoseconds middle = (of.begin + of.end) / 2, half = m_state.range.length() / 2;
        setRange({ middle - half, middle - half + m_state.range.length() });
    }
    if (index < 0)
        return;
    const TrackRow &row = m_state.layout.rows[std::size_t(index)];
    const int visible = m_canvas->height() - kRulerHeight - m_state.layout.pinnedHeight;
    if (row.y < m_state.scroll)
        setScroll(row.y);
    else if (row.y + row.pitch > m_state.scroll + visible)
        setScroll(row.y + row.pitch - visible);
}

void TimelineView::nextSpan()
{
    if (m_state.isEmpty())
        return;
    if (m_state.selectedMeasured != kNoSpan)
        return stepMeasured(1);
    if (m_state.selected == kNoSpan) {
        const std::uint32_t track =
            m_pointedRow >= 0 ? m_state.layout.rows[std::size_t(m_pointedRow)].tracks.front() : 0;
        selectSpan(firstSpanAfter(*m_state.timeline(), track, m_state.range.begin));
    } else if (m_state.selected + 1 < m_state.timeline()->tracks[m_state.timeline()->trackOf[m_state.selected]].last) {
        selectSpan(m_state.selected + 1);
    }
    if (m_state.selected != kNoSpan)
        reveal(m_state.selected);
}

void TimelineView::previousSpan()
{
    if (m_state.selectedMeasured != kNoSpan)
        return stepMeasured(-1);
    if (m_state.isEmpty() || m_state.selected == kNoSpan)
        return nextSpan();
    if (m_state.selected > m_state.timeline()->tracks[m_state.timeline()->trackOf[m_state.selected]].first)
        selectSpan(m_state.selected - 1);
    reveal(m_state.selected);
}

void TimelineView::followDependency(bool forward)
{
    if (m_state.isEmpty() || m_state.selected == kNoSpan)
        return;
    const std::uint32_t next = !forward ? m_state.timeline()->cause[m_state.selected]
        : m_state.effects.empty()       ? kNoSpan
                                        : m_state.effects.front();
    if (next == kNoSpan)
        return;
    selectSpan(next);
    reveal(next);
}

void TimelineView::toggleCriticalPath()
{
    m_state.showsCriticalPath = !m_state.showsCriticalPath;
    if (m_state.showsCriticalPath)
        ensureCriticalPath();
    repaintChart();
}

void TimelineView::toggleInside()
{
    m_state.showsInside = !m_state.showsInside;
    m_card->hide();
    repaintChart();
}

void TimelineView::addMark()
{
    if (m_state.isEmpty())
        return;
    Nanoseconds at = (m_state.range.begin + m_state.range.end) / 2;
    if (m_state.hovered != kNoSpan)
        at = m_state.timeline()->start[m_state.hovered];
    else if (m_state.hoveredMeasured != kNoSpan)
        at = std::max<Nanoseconds>(0, measuredTime(m_state.hoveredMeasured).begin);
    else if (m_state.pointer)
        at = *m_state.pointer;
    else if (m_state.selected != kNoSpan)
        at = m_state.timeline()->start[m_state.selected];
    auto &marks = m_state.marks;
    if (marks[0] && marks[1])
        marks[0] = std::exchange(marks[1], std::nullopt);
    marks[marks[0] ? 1 : 0] = at;
    m_canvas->update();
}

void TimelineView::setFilter(const SpanFilter &filter)
{
    m_search = filter;
    applyFilters();
}

void TimelineView::applyFilters()
{
    SpanFilter both = m_search;
    // Of a plan with jobs the legend has jobs in the place of kinds, and prefill.
    both.kinds &= m_state.jobs.isEmpty() ? m_shownKinds : m_shownKinds | ~(1u << int(WorkKind::Prefill));
    if (m_state.job >= 0)
        both.job = m_state.job;
    if (both == m_state.filter)
        return;
    m_state.filter = both;
    m_minimap->invalidate();
    repaintChart();
    if (m_state.area)
        finishArea(); // the table counts what is drawn
}

bool TimelineView::find(const QString &text)
{
    const auto filter = parseSpanFilter(text, m_state.jobs.names);
    if (!filter) {
        m_legend->setMatches(tr("not understood"));
        return false;
    }
    setFilter(*filter);
    if (m_state.isEmpty() || filter->isNeutral()) {
        m_legend->setMatches({});
        return true;
    }
    const std::uint32_t matches = countMatches(*m_state.timeline(), *filter);
    m_legend->setMatches(countOf(matches, tr("span"), tr("spans")));
    selectSpan(kNoSpan);
    findNext();
    return true;
}

void TimelineView::findNext()
{
    if (m_state.isEmpty() || m_search.isNeutral())
        return;
    selectSpan(nextMatch(*m_state.timeline(), m_search, m_state.selected));
    if (m_state.selected != kNoSpan)
        reveal(m_state.selected);
}

void TimelineView::openSearch()
{
    m_legend->openSearch();
}

void TimelineView::clearSelection()
{
    if (m_state.focus) {
        endFocus();
    } else if (m_state.area) {
        forgetArea();
    } else if (m_state.marks[0]) {
        m_state.marks = {};
    } else if (m_state.selected != kNoSpan) {
        selectSpan(kNoSpan);
    } else if (m_state.selectedMeasured != kNoSpan) {
        selectMeasured(kNoSpan);
    } else if (m_state.job != JobSpans::kNone) {
        selectJob(JobSpans::kNone);
    } else {
        setFilter({});
    }
    m_canvas->update();
}

void TimelineView::keyPressEvent(QKeyEvent *event)
{
    const bool control = event->modifiers() & Qt::ControlModifier;
    if (control && event->key() == Qt::Key_F)
        return openSearch();
    if (control && event->key() == Qt::Key_C && m_state.area)
        return copyArea();
    if (control || (event->modifiers() & Qt::AltModifier))
        return QWidget::keyPressEvent(event);
    switch (event->key()) {
    case Qt::Key_W:
        return zoomIn();
    case Qt::Key_S:
        return zoomOut();
    case Qt::Key_A:
    case Qt::Key_Left:
        return panLeft();
    case Qt::Key_D:
    case Qt::Key_Right:
        return panRight();
    case Qt::Key_Up:
        return scrollUp();
    case Qt::Key_Down:
        return scrollDown();
    case Qt::Key_Home:
        return fit();
    case Qt::Key_F:
        return zoomToSelection();
    case Qt::Key_Period:
        return nextSpan();
    case Qt::Key_Comma:
        return previousSpan();
    case Qt::Key_BracketRight:
        return followDependency(true);
    case Qt::Key_BracketLeft:
        return followDependency(false);
    case Qt::Key_M:
        return addMark();
    case Qt::Key_P:
        return togglePin();
    case Qt::Key_C:
        return toggleCriticalPath();
    case Qt::Key_U:
        return toggleStreams();
    case Qt::Key_G:
        return toggleOthers();
    case Qt::Key_I:
        return toggleInside();
    case Qt::Key_R:
        return toggleMeasured();
    case Qt::Key_L:
        return openLayer();
    case Qt::Key_Slash:
        return openSearch();
    case Qt::Key_Escape:
        return clearSelection();
    default:
        QWidget::keyPressEvent(event);
    }
}

} // namespace trainyard
