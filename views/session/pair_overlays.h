#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Memory and curves of two variants in tabs below their timelines: one axis, one cursor while the page is locked, all
// of the longer iteration while it is not. GUI thread.

#include "views/session/pair_curves.h"

#include <QObject>

class QCheckBox;

namespace trainyard {

class TabbedCard;
class TimelineView;

class PairOverlays : public QObject {
    Q_OBJECT
public:
    /// All outlive it.
    PairOverlays(TabbedCard &tabs, TimelineView &upper, TimelineView &lower, const QCheckBox &locked, QObject *parent);

    PairCurves *const memory, *const curves;

    void setPair(const PairSide &before, const PairSide &after);
    void setStale(bool stale);

private:
    void wire(const QCheckBox &locked);
    void follow();
    /// The charts' axes lie under the timelines' tracks.
    void align();

    TimelineView &m_upper, &m_lower;
    const QCheckBox &m_locked;
    /// of the two iterations
    Nanoseconds m_longer = 0;
};

} // namespace trainyard
