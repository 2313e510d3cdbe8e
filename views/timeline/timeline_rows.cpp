// SPDX-License-Identifier: GPL-3.0-or-later
// Which rows the timeline shows: pinned, folded, with their further streams; and how that is kept.
#include "views/timeline/chart_canvas.h"
#include "views/timeline/other_pipelines.h"
#include "views/timeline/timeline_view.h"

#include <QDataStream>
#include <QIODevice>
#include <QSet>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

constexpr int kFoldLine = 18; // pixels below the top of unfolded rows that fold them

} // namespace

void TimelineView::togglePin()
{
    int row = m_pointedRow;
    if (row < 0 && m_state.selected != kNoSpan)
        row = m_state.layout.rowOfTrack[m_state.timeline()->trackOf[m_state.selected]];
    if (row < 0)
        return;
    togglePinOf(m_state.layout.rows[std::size_t(row)].key);
}

void TimelineView::togglePinOf(const QString &key)
{
    if (!m_options.pinned.remove(key))
        m_options.pinned.insert(key);
    relayout();
}

QByteArray TimelineView::rowsState() const
{
    QByteArray state;
    QDataStream out(&state, QIODevice::WriteOnly);
    out << m_options.pinned << m_options.folded << m_options.unfolded;
    return state;
}

void TimelineView::restoreRows(const QByteArray &state)
{
    QSet<QString> pinned, folded, unfolded;
    QDataStream in(state);
    in >> pinned >> folded;
    if (!in.atEnd()) // earlier versions wrote two
        in >> unfolded;
    if (state.isEmpty() || in.status() != QDataStream::Ok)
        return;
    m_options.pinned = std::move(pinned);
    m_options.folded = std::move(folded);
    m_options.unfolded = std::move(unfolded);
    relayout();
}

void TimelineView::toggleStreams()
{
    m_options.unfoldStreams = !m_options.unfoldStreams;
    relayout();
}

void TimelineView::toggleOthers()
{
    const std::vector<RowGroup> &others = m_state.layout.others;
    const bool anyFolded = std::ranges::any_of(others, &RowGroup::isFolded);
    for (const RowGroup &group : others)
        if (group.isFolded == anyFolded)
            toggleFold(m_options, group);
    relayout();
}

bool TimelineView::foldAt(QPoint point)
{
    const ChartGeometry geometry = m_canvas->geometry();
    const int content = point.y() - geometry.tracks.top() - m_state.layout.pinnedHeight + m_state.scroll;
    for (const std::vector<RowGroup> *groups : { &m_state.layout.others, &m_state.layout.groups })
        for (const RowGroup &group : *groups) {
            const bool isHit = group.isFolded
                ? content >= group.y && content < group.y + group.height
                : content >= group.y && content < group.y + kFoldLine && point.x() < geometry.gutter.width() / 2;
            if (!isHit)
                continue;
            toggleFold(m_options, group);
            relayout();
            return true;
        }
    return false;
}

} // namespace trainyard
