// SPDX-License-Identifier: GPL-3.0-or-later
// A worker with a mailbox for the newest request only.
#include "core/base/newest_worker.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <atomic>
#include <semaphore>
#include <vector>

using namespace trainyard;

class NewestWorkerTest : public QObject {
    Q_OBJECT
    WorkPool m_pool { 2 };

private slots:
    /// While the first is worked on, the second is replaced by the third.
    void onlyTheNewestThatWaitsIsWorkedOn()
    {
        std::counting_semaphore<> started(0), goOn(0);
        std::vector<int> done; // the worker's, until it has ended
        {
            NewestWorker<int> worker(m_pool, WorkPool::Rank::Search, [&](int request, const std::stop_token &) {
                done.push_back(request);
                started.release();
                goOn.acquire();
            });
            worker.post(1, false);
            started.acquire();
            worker.post(2, false);
            worker.post(3, false);
            goOn.release();
            started.acquire();
            goOn.release();
        }
        QCOMPARE(done, (std::vector<int> { 1, 3 }));
    }

    void whatRunsIsStoppedOnlyWhereTheCallerSaysSo()
    {
        std::counting_semaphore<> started(0);
        std::atomic<bool> wasStopped = false, mayEnd = false;
        NewestWorker<int> worker(m_pool, WorkPool::Rank::Search, [&](int, const std::stop_token &stop) {
            started.release();
            while (!stop.stop_requested() && !mayEnd)
                std::this_thread::yield();
            wasStopped = stop.stop_requested();
        });
        worker.post(1, false);
        started.acquire();
        worker.post(2, false);
        mayEnd = true;
        started.acquire(); // the second began: the first has ended by itself
        QVERIFY(!wasStopped);
        mayEnd = false;
        worker.post(3, false);
        worker.post(std::nullopt, true); // takes the third away and stops the second, if that has not ended yet
        mayEnd = true;
    }

    void itsEndStopsWhatRunsAndWaitsForIt()
    {
        std::counting_semaphore<> started(0);
        std::atomic<bool> hasEnded = false;
        {
            NewestWorker<int> worker(m_pool, WorkPool::Rank::Search, [&](int, const std::stop_token &stop) {
                started.release();
                while (!stop.stop_requested())
                    std::this_thread::yield();
                hasEnded = true;
            });
            worker.post(1, false);
            started.acquire();
            worker.post(2, false); // waits in vain
        }
        QVERIFY(hasEnded);
        QCOMPARE(started.try_acquire(), false);
    }

    /// Queued behind a long task of somebody else, an owner that goes does not wait for it.
    void itsEndDoesNotWaitForOthers()
    {
        WorkPool one(1);
        std::counting_semaphore<> started(0), goOn(0);
        one.submit(WorkPool::Rank::Search, [&] {
            started.release();
            goOn.acquire();
        });
        started.acquire();
        std::atomic<bool> wasCalled = false;
        {
            NewestWorker<int> worker(
                one, WorkPool::Rank::Search, [&](int, const std::stop_token &) { wasCalled = true; });
            worker.post(1, false);
        }
        goOn.release();
        QVERIFY(!wasCalled);
    }
};

TRAINYARD_APPLESS_TEST(NewestWorkerTest)
#include "tst_newest_worker.moc"
