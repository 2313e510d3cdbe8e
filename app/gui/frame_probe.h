#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// `trainyard --frames OUT.json`: when the first timeline was painted, how long the window was busy at a time, how its
// memory grew and what live sources told, written when the program ends. Listeners are told on stdout as soon as they
// have a port, for scripts. GUI thread.

#include "models/frame_clock.h"
#include "models/live_document.h"

#include <QStringList>

namespace trainyard {

class TimelineView;

class FrameProbe : public QObject {
public:
    FrameProbe(LiveDocument &live, TimelineView &timeline, QString path);
    /// writes
    ~FrameProbe() override;

protected:
    /// of the timeline's canvas, until it shows an iteration
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void look();
    [[nodiscard]] QByteArray toJson() const;

    struct Moment {
        /// resident
        double seconds = 0, megabytes = 0;
        std::int64_t events = 0, dropped = 0;
    };
    LiveDocument &m_live;
    TimelineView &m_timeline;
    /// from the start of the process until an iteration was painted; below 0: none was
    double m_firstGanttMs = -1;
    QString m_path;
    /// addresses of listeners
    QStringList m_told;
    FrameClock m_clock;
    QTimer m_ticks;
    QElapsedTimer m_since;
    /// the window is there, and its first frames are not counted any more
    bool m_isWarm = false;
    std::vector<Moment> m_moments;
};

} // namespace trainyard
