#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// For tests that something is not done: they wait until it would have been done, rather than for a time.

#include "core/evaluation/advice/run_pool.h"

#include <QCoreApplication>
#include <QTest>
#include <QTimer>

#include <latch>
#include <memory>

namespace trainyard::test {

/// Returns once the pool has ended what it was asked for before: all its threads are here at once, behind that.
inline void untilPoolIsIdle(WorkPool &pool)
{
    const auto all = std::make_shared<std::latch>(std::ptrdiff_t(pool.threads()) + 1);
    for (std::size_t i = 0; i < pool.threads(); ++i)
        pool.submit(i == 0 ? WorkPool::Rank::Awaited : WorkPool::Rank::Search, [all] { all->arrive_and_wait(); });
    all->arrive_and_wait();
}

/// Returns once timers without a rest that run now have fired, the program's pool has ended what they or anybody else
/// asked for, and its answers have arrived on this thread.
inline void untilNothingIsUnderWay()
{
    bool hasFired = false;
    QTimer last; // of equal times, so behind those that run
    last.setSingleShot(true);
    QObject::connect(&last, &QTimer::timeout, &last, [&hasFired] { hasFired = true; });
    last.start(0);
    QVERIFY(QTest::qWaitFor([&hasFired] { return hasFired; }));
    untilPoolIsIdle(RunPool::shared().threads());
    QCoreApplication::processEvents();
}

} // namespace trainyard::test
