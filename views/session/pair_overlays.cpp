// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/session/pair_overlays.h"

#include "views/panels/card.h"
#include "views/timeline/timeline_view.h"

#include <QCheckBox>
#include <QTimer>

#include <algorithm>

namespace trainyard {

PairOverlays::PairOverlays(
    TabbedCard &tabs, TimelineView &upper, TimelineView &lower, const QCheckBox &locked, QObject *parent)
    : QObject(parent)
    , memory(new PairCurves(tr("Memory of both")))
    , curves(new PairCurves(tr("Curves of both")))
    , m_upper(upper)
    , m_lower(lower)
    , m_locked(locked)
{
    memory->addPlot(makePairMemoryTimePlot(memory), tr("Over time"));
    memory->addPlot(makePairPeakPlot(memory), tr("Peak by stage"));
    curves->addPlot(makePairUtilizationPlot(curves), tr("GPU utilization"));
    curves->addPlot(makePairWanPlot(curves), tr("WAN"));
    tabs.addTab(memory, tr("Memory"));
    tabs.addTab(curves, tr("Curves"));
    wire(locked);
}

void PairOverlays::wire(const QCheckBox &locked)
{
    connect(&locked, &QCheckBox::toggled, this, &PairOverlays::follow);
    for (TimelineView *view : { &m_upper, &m_lower }) {
        connect(view, &TimelineView::rangeChanged, this, &PairOverlays::follow);
        for (PairCurves *panel : { memory, curves })
            connect(view, &TimelineView::cursorMoved, panel, &PairCurves::showCursor);
    }
    for (PairCurves *panel : { memory, curves }) {
        connect(panel, &PairCurves::rangeChanged, this, [this](Nanoseconds from, Nanoseconds to) {
            if (m_locked.isChecked())
                m_upper.setVisibleRange(from, to); // the page has the other follow
        });
        connect(panel, &PairCurves::cursorMoved, this, [this](qint64 time) {
            m_upper.showCursor(time);
            m_lower.showCursor(time);
        });
        connect(panel, &PairCurves::placed, this,
            [this] { QTimer::singleShot(0, this, &PairOverlays::align); }); // when all of the column has its size
    }
}

void PairOverlays::follow()
{
    const TimeInterval seen = m_locked.isChecked() ? m_upper.visibleRange() : TimeInterval { 0, m_longer };
    for (PairCurves *panel : { memory, curves })
        panel->setVisibleRange(seen.begin, seen.end);
}

void PairOverlays::align()
{
    for (PairCurves *panel : { memory, curves }) {
        if (!panel->isVisible())
            continue;
        const QRect tracks = m_upper.trackArea();
        const int left = m_upper.mapToGlobal(tracks.topLeft()).x() - panel->mapToGlobal(QPoint()).x();
        panel->setPlotInsets(left, panel->width() - left - tracks.width());
    }
}

void PairOverlays::setPair(const PairSide &before, const PairSide &after)
{
    m_longer = 0;
    for (const PairSide *side : { &before, &after })
        if (side->evaluation)
            m_longer = std::max(m_longer, side->evaluation->timeline.duration);
    for (PairCurves *panel : { memory, curves })
        panel->setPair(before, after);
    follow();
}

void PairOverlays::setStale(bool stale)
{
    for (PairCurves *panel : { memory, curves })
        panel->setStale(stale);
}

} // namespace trainyard
