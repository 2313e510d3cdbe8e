// SPDX-License-Identifier: GPL-3.0-or-later
// An area of TimelineView: dragged over rows and times, measured in a table, copied.
#include "models/text/format.h"
#include "views/theme/theme.h"
#include "views/timeline/area_table.h"
#include "views/timeline/chart_canvas.h"
#include "views/timeline/legend.h"
#include "views/timeline/timeline_view.h"

#include <algorithm>

namespace trainyard {

void TimelineView::dragArea(QPoint from, QPoint to)
{
    const ChartGeometry geometry = m_canvas->geometry();
    const auto clampX = [&](int x) { return std::clamp(x, geometry.tracks.left(), geometry.tracks.right() + 1); };
    const auto row = [&](int y) {
        const int inside = std::clamp(y, geometry.tracks.top(), geometry.tracks.bottom()) - geometry.tracks.top();
        for (int at = inside; at >= 0; --at) {   // gaps between rows belong to the row above
            if (const int r = rowAt(m_state.layout, at, m_state.scroll); r >= 0)
                return r;
        }
        return 0;
    };
    const auto [x0, x1] = std::minmax({clampX(from.x()), clampX(to.x())});
    const auto [r0, r1] = std::minmax({row(from.y()), row(to.y())});
    m_state.area = AreaSelection{{geometry.time(m_state, x0), geometry.time(m_state, x1)}, r0, r1};
    hover(kNoSpan, {});
    m_areaTable->hide();
    m_canvas->update();
}

std::vector<std::uint32_t> TimelineView::areaTracks() const
{
    std::vector<std::uint32_t> tracks;
    for (int r = m_state.area->firstRow; r <= m_state.area->lastRow; ++r) {
        const auto &of = m_state.layout.rows[std::size_t(r)].tracks;
        tracks.insert(tracks.end(), of.begin(), of.end());
    }
    std::sort(tracks.begin(), tracks.end());
    tracks.erase(std::unique(tracks.begin(), tracks.end()), tracks.end());   // a pinned row shows its track twice
    return tracks;
}

void TimelineView::finishArea()
{
    if (!m_state.area || m_state.area->time.isEmpty()) {
        m_state.area.reset();
        return;
    }
    const std::vector<std::uint32_t> tracks = areaTracks();
    const TimeInterval time = m_state.area->time;
    const QString title = tracks.size() == 1 ? tr("%1 on 1 track").arg(formatSeconds(double(time.length()) * 1e-9))
                                             : tr("%1 on %2 tracks").arg(formatSeconds(double(time.length()) * 1e-9)).arg(tracks.size());
    m_areaTable->setRows(title, areaRows(*m_state.timeline(), time, tracks));
    m_areaTable->placeIn(rect().adjusted(Theme::kPad, m_legend->height(), -Theme::kPad, -Theme::kGap));
    m_areaTable->show();
    m_areaTable->raise();
    m_canvas->update();
    emit areaSelected(time.begin, time.end, QList<quint32>(tracks.begin(), tracks.end()));
}

void TimelineView::copyArea() const
{
    if (m_state.area)
        m_areaTable->copy();
}

} // namespace trainyard
