// SPDX-License-Identifier: GPL-3.0-or-later
// The network thread: work in order, timers, and an end that waits for nobody.

#include "core/live/net/loop.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <atomic>
#include <future>
#include <memory>
#include <vector>

using namespace trainyard::live::net;

class TstLoop : public QObject {
    Q_OBJECT

private slots:
    void workRunsInOrderOnOneThread()
    {
        Loop loop;
        QVERIFY(!loop.isOnThread());
        std::vector<int> ran;
        bool isOn = true;
        for (int i = 0; i < 100; ++i)
            loop.post([&, i] {
                ran.push_back(i);
                isOn &= loop.isOnThread();
            });
        loop.call([&] { ran.push_back(100); });
        QVERIFY(isOn);
        QCOMPARE(ran.size(), std::size_t(101));
        QVERIFY(std::ranges::is_sorted(ran));
    }

    void aTimerRunsOnceAndMayBeStartedByItsOwnWork()
    {
        Loop loop;
        std::unique_ptr<Timer> timer;
        std::promise<void> third;
        int runs = 0;
        std::function<void()> work = [&] {
            if (++runs == 3)
                third.set_value();
            else
                timer->start(0.001, work);
        };
        loop.call([&] {
            timer = std::make_unique<Timer>(loop);
            timer->start(0, work);
        });
        third.get_future().wait();
        bool isActive = true;
        loop.call([&] { isActive = timer->isActive(); });
        QVERIFY(!isActive);
        QCOMPARE(runs, 3);
        loop.call([&] { timer.reset(); });
    }

    void aTimerThatIsCancelledSetAnewOrDestroyedDoesNotRunWhatItHad()
    {
        Loop loop;
        std::atomic<int> wrong = 0;
        std::promise<void> right;
        std::unique_ptr<Timer> cancelled, anew, destroyed;
        loop.call([&] {
            cancelled = std::make_unique<Timer>(loop);
            anew = std::make_unique<Timer>(loop);
            destroyed = std::make_unique<Timer>(loop);
            for (Timer *const timer : { cancelled.get(), anew.get(), destroyed.get() })
                timer->start(0, [&] { ++wrong; });
            cancelled->cancel();
            destroyed.reset();
            anew->start(0.01, [&] { right.set_value(); });
        });
        right.get_future().wait();
        QCOMPARE(wrong.load(), 0);
        loop.call([&] {
            cancelled.reset();
            anew.reset();
        });
    }

    void whoOutlivesTheLoopPostsIntoNothing()
    {
        std::function<void(std::function<void()>)> post;
        std::promise<void> ran;
        {
            Loop loop;
            post = loop.poster();
            post([&] { ran.set_value(); });
            ran.get_future().wait();
        }
        const auto held = std::make_shared<int>(1);
        bool isRun = false;
        post([&isRun, held] { isRun = true; });
        QVERIFY(!isRun);
        QCOMPARE(held.use_count(), 1L);
    }

    void itEndsWithTimersAndWorkWaiting()
    {
        const auto held = std::make_shared<int>(1);
        std::unique_ptr<Timer> timer;
        {
            Loop loop;
            loop.call([&] {
                timer = std::make_unique<Timer>(loop);
                timer->start(3'600, [held] {});
            });
            loop.call([&] { timer.reset(); });
            for (int i = 0; i < 1'000; ++i)
                loop.post([held] {});
        }
        QCOMPARE(held.use_count(), 1L);
    }

    void workThatThrowsEndsNothing()
    {
        Loop loop;
        loop.post([] { throw std::bad_alloc(); });
        bool isRun = false;
        loop.call([&] { isRun = true; });
        QVERIFY(isRun);
    }
};

TRAINYARD_GUILESS_TEST(TstLoop)
#include "tst_loop.moc"
