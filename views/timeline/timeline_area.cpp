// SPDX-License-Identifier: GPL-3.0-or-later
// An area of TimelineView: dragged over rows and times, measured in a table, copied.
#include "models/text/format.h"
#include "views/theme/theme.h"
#include "views/timeline/area_table.h"
#include "views/timeline/chart_canvas.h"
#include "views/timeline/legend.h"
#include "views/timeline/timeline_view.h"

#include <algorithm>
#include <iterator>

namespace trainyard {

void TimelineView::dragArea(QPoint from, QPoint to)
{
    const ChartGeometry geometry = m_canvas->geometry();
    const auto clampX = [&](int x) { return std::clamp(x, geometry.tracks.left(), geometry.tracks.right() + 1); };
    const auto row = [&](int y) {
        const int inside = std::clamp(y, geometry.tracks.top(), geometry.tracks.bottom()) - geometry.tracks.top();
        for (int at = inside; at >= 0; --at) { // gaps between rows belong to the row above
            if (const int r = rowAt(m_state.layout, at, m_state.scroll); r >= 0)
                return r;
        }
        return 0;
    };
    const auto [x0, x1] = std::minmax({ clampX(from.x()), clampX(to.x()) });
    const auto [r0, r1] = std::minmax({ row(from.y()), row(to.y()) });
    m_state.area = AreaSelection { { geometry.time(m_state, x0), geometry.time(m_state, x1) }, r0, r1 };
    hover(kNoSpan, {});
    m_areaTable->clear();
    m_canvas->update();
}

void TimelineView::finishArea()
{
    if (!m_state.area || m_state.area->time.isEmpty()) {
        forgetArea();
        return;
    }
    const TimeInterval time = m_state.area->time;
    const std::vector<AreaLine> lines = areaLines(m_state.layout, m_state.area->firstRow, m_state.area->lastRow);
    const QString length = formatSeconds(double(time.length()) * 1e-9);
    std::vector<AreaRow> rows = areaRows(*m_state.timeline(), time, lines, m_state.filter);
    if (m_state.measured)
        std::ranges::move(measuredAreaRows(*m_state.measured, time, m_state.layout, m_state.area->firstRow,
                              m_state.area->lastRow, lines.size()),
            std::back_inserter(rows));
    m_areaTable->setRows(
        tr("%1 on %2").arg(length, countOf(qint64(lines.size()), tr("row"), tr("rows"))), std::move(rows));
    m_canvas->update();
}

void TimelineView::placeAreaTable()
{
    if (m_areaTable->parentWidget() != this || m_areaTable->isHidden())
        return;
    m_areaTable->placeIn(rect().adjusted(Theme::kPad, m_legend->height(), -Theme::kPad, -Theme::kGap));
    m_areaTable->raise();
}

void TimelineView::forgetArea()
{
    m_state.area.reset();
    m_areaTable->clear();
    m_canvas->update();
}

void TimelineView::copyArea() const
{
    if (m_state.area)
        m_areaTable->copy();
}

} // namespace trainyard
