// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/row_crew.h"

#include <QSemaphore>
#include <QThreadPool>

#include <algorithm>
#include <atomic>

namespace trainyard {

void forEachRow(int count, int hands, const std::function<void(int row, int hand)> &work)
{
    std::atomic<int> next = 0;
    const auto takeRows = [&](int hand) {
        for (int row = next++; row < count; row = next++)
            work(row, hand);
    };
    QSemaphore done;
    int helpers = 0;
    while (helpers + 1 < std::min(hands, count) && QThreadPool::globalInstance()->tryStart([&, hand = helpers + 1] {
        takeRows(hand);
        done.release();
    }))
        ++helpers;
    takeRows(0);
    done.acquire(helpers);
}

} // namespace trainyard
