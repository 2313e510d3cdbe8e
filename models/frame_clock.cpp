// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/frame_clock.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace trainyard {

namespace {

constexpr int kTurnMs = 2;

std::int64_t threadNanoseconds()
{
    std::timespec now {};
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
        return 0;
    return std::int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::size_t binOf(double ms)
{
    return std::size_t(std::ranges::lower_bound(FrameTimes::kBounds, ms) - FrameTimes::kBounds.begin());
}

} // namespace

FrameClock::FrameClock(QObject *parent)
    : QObject(parent)
{
    m_timer.setTimerType(Qt::PreciseTimer);
    m_timer.setInterval(kTurnMs);
    connect(&m_timer, &QTimer::timeout, this, &FrameClock::turn);
    m_timer.start();
    restart();
}

void FrameClock::restart()
{
    m_times = {};
    m_busy = threadNanoseconds();
    m_wall.start();
}

void FrameClock::turn()
{
    const std::int64_t now = threadNanoseconds();
    const double busy = double(now - std::exchange(m_busy, now)) * 1e-6;
    const double wall = std::max(0.0, double(m_wall.nsecsElapsed()) * 1e-6 - kTurnMs);
    m_wall.start();
    ++m_times.turns;
    m_times.longestMs = std::max(m_times.longestMs, wall);
    m_times.longestBusyMs = std::max(m_times.longestBusyMs, busy);
    m_times.busySeconds += busy * 1e-3;
    ++m_times.byWall[binOf(wall)];
    ++m_times.byBusy[binOf(busy)];
}

} // namespace trainyard
