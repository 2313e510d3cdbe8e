// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/work_pool.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <atomic>
#include <latch>
#include <set>

using namespace trainyard;

class WorkPoolTest : public QObject {
    Q_OBJECT
private slots:
    /// What is awaited has a thread of its own: searches that never end do not hold it up.
    void whatIsAwaitedNeverWaitsForSearches()
    {
        std::atomic<bool> mayEnd = false;
        std::latch awaited(1);
        WorkPool pool(2);
        for (int i = 0; i < 8; ++i)
            pool.submit(WorkPool::Rank::Search, [&] {
                while (!mayEnd)
                    std::this_thread::yield();
            });
        pool.submit(WorkPool::Rank::Awaited, [&] { awaited.count_down(); });
        awaited.wait();
        mayEnd = true;
    }

    /// Each index once, whoever takes it: sum of 0 … n - 1.
    void eachIndexIsTakenOnce()
    {
        WorkPool pool(3);
        std::latch done(1);
        std::atomic<long> sum = 0;
        std::atomic<int> calls = 0;
        std::mutex mutex;
        std::set<std::size_t> threads;
        pool.submit(WorkPool::Rank::Search, [&] {
            pool.each(1000, [&](std::size_t i) {
                sum += long(i);
                ++calls;
                const std::lock_guard lock(mutex);
                threads.insert(pool.here());
            });
            done.count_down();
        });
        done.wait();
        QCOMPARE(calls.load(), 1000);
        QCOMPARE(sum.load(), 1000L * 999 / 2);
        for (const std::size_t thread : threads)
            QVERIFY(thread >= 1 && thread < pool.threads()); // searchers
    }

    /// All searchers share out work of their own at once: nobody waits for a thread that waits.
    void sharesInsideSharesEnd()
    {
        WorkPool pool(2);
        std::latch done(4);
        std::atomic<int> calls = 0;
        for (int i = 0; i < 4; ++i)
            pool.submit(WorkPool::Rank::Search, [&] {
                pool.each(10, [&](std::size_t) { pool.each(3, [&](std::size_t) { ++calls; }); });
                done.count_down();
            });
        done.wait();
        QCOMPARE(calls.load(), 4 * 10 * 3);
    }

    /// The others are still called, and the failure comes out where the list was shared out.
    void aFailureComesOutOnce()
    {
        WorkPool pool(2);
        std::latch done(1);
        std::atomic<int> calls = 0;
        std::atomic<bool> wasThrown = false;
        pool.submit(WorkPool::Rank::Search, [&] {
            try {
                pool.each(20, [&](std::size_t i) {
                    ++calls;
                    if (i % 5 == 0)
                        throw std::bad_alloc();
                });
            } catch (const std::bad_alloc &) {
                wasThrown = true;
            }
            done.count_down();
        });
        done.wait();
        QCOMPARE(calls.load(), 20);
        QVERIFY(wasThrown);
    }

    /// Of two searchers one shares out a long list: what is asked for then has its turn before the list ends.
    void aLongListLeavesTurnsToOthers()
    {
        WorkPool pool(2);
        std::atomic<bool> hadTurn = false;
        std::atomic<int> callsBefore = 0, calls = 0;
        std::latch done(1);
        pool.submit(WorkPool::Rank::Search, [&] {
            const std::size_t own = pool.here();
            pool.each(2000, [&](std::size_t i) {
                if (i == 10)
                    pool.submit(WorkPool::Rank::Search, [&] {
                        callsBefore = calls.load();
                        hadTurn = true;
                        hadTurn.notify_all();
                    });
                ++calls;
                if (i > 10 && pool.here() == own)
                    hadTurn.wait(false); // the other goes on, with the list or with what was asked for
            });
            done.count_down();
        });
        done.wait();
        QVERIFY(hadTurn && callsBefore < 1900);
    }

    void nothingIsSharedOutOfNothing()
    {
        WorkPool pool(1);
        std::latch done(1);
        pool.submit(WorkPool::Rank::Search, [&] {
            pool.each(0, [](std::size_t) { QFAIL("called"); });
            done.count_down();
        });
        done.wait();
    }
};

TRAINYARD_APPLESS_TEST(WorkPoolTest)
#include "tst_work_pool.moc"
