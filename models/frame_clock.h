#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How long a thread's event loop was busy at a time: a timer that should come every few milliseconds, and how much
// later it came. Beside the time on the wall stands the processor time that the thread itself used meanwhile, which
// says whether it was busy or not let run. Of the thread that made it.

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <array>

namespace trainyard {

struct FrameTimes {
    std::int64_t turns = 0;
    /// between two turns of the loop
    double longestMs = 0;
    /// most processor time of the thread between two turns
    double longestBusyMs = 0;
    /// processor time of the thread, all in all
    double busySeconds = 0;
    /// Turns that took at most 2, 5, 10, 17, 33, 50, 100 ms, and more; by the wall and by processor time.
    static constexpr std::array kBounds { 2.0, 5.0, 10.0, 17.0, 33.0, 50.0, 100.0 };
    std::array<std::int64_t, kBounds.size() + 1> byWall {}, byBusy {};
};

class FrameClock : public QObject {
    Q_OBJECT
public:
    explicit FrameClock(QObject *parent = nullptr);
    /// forgets what was so far
    void restart();
    [[nodiscard]] const FrameTimes &times() const { return m_times; }

private:
    void turn();

    FrameTimes m_times;
    QTimer m_timer;
    QElapsedTimer m_wall;
    /// of the thread, nanoseconds
    std::int64_t m_busy = 0;
};

} // namespace trainyard
