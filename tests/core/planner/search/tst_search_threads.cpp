// SPDX-License-Identifier: GPL-3.0-or-later
// The threads of a search: each index once, and all of them as polite to the rest of the machine as whoever asked.
#include "core/planner/search/search_threads.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <array>
#include <atomic>
#include <latch>
#include <mutex>
#include <set>
#include <thread>

#ifdef __linux__
#include <sys/resource.h>
#endif

using namespace trainyard;

class CrewTest : public QObject {
    Q_OBJECT
private slots:
    /// Sum of 0 … n − 1, with one thread and with more.
    void eachIndexIsWorkedOnOnce()
    {
        for (const std::size_t threads : { 1, 2, 4 }) {
            SearchThreads pool(threads);
            QCOMPARE(pool.workers(), threads);
            std::atomic<long> sum = 0;
            std::atomic<bool> isNumbered = true;
            pool.each(1000, [&](std::size_t index, std::size_t worker) {
                sum += long(index);
                if (worker >= threads)
                    isNumbered = false;
            });
            QCOMPARE(sum.load(), 1000L * 999 / 2);
            QVERIFY(isNumbered);
        }
    }

#ifdef __linux__
    /// A window asks from a thread of low priority: no thread of the search may be above it.
    void allThreadsHaveThePriorityOfWhoeverAsks()
    {
        for (const int nice : { 0, 12 }) {
            std::set<int> seen;
            std::thread([&] {
                const int own = getpriority(PRIO_PROCESS, 0);
                setpriority(PRIO_PROCESS, 0, std::max(own, nice));
                SearchThreads pool(3);
                std::mutex mutex;
                std::latch all(3);
                std::array<std::atomic<bool>, 3> isHere {};
                pool.each(300, [&](std::size_t, std::size_t worker) {
                    if (!isHere[worker].exchange(true))
                        all.arrive_and_wait(); // all take part
                    const std::lock_guard lock(mutex);
                    seen.insert(getpriority(PRIO_PROCESS, 0));
                });
                seen.insert(getpriority(PRIO_PROCESS, 0));
            }).join();
            QCOMPARE(seen.size(), std::size_t(1));
            QVERIFY(*seen.begin() >= nice);
        }
    }
#endif
};

TRAINYARD_GUILESS_TEST(CrewTest)
#include "tst_search_threads.moc"
