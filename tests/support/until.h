#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Waits for a fact as an event loop does: looks again after whatever happened, not after a time.

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QTimer>

namespace trainyard::test {

/// True as soon as `fact()` is; false where it is not within `limit` ms.
template <typename Fact> bool until(Fact fact, int limit = 60000)
{
    const QDeadlineTimer deadline(limit);
    QTimer tick; // a fact that no event of this thread brings
    tick.start(10);
    while (!fact()) {
        if (deadline.hasExpired())
            return false;
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
    return true;
}

} // namespace trainyard::test
