// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/gpu_calendar.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <random>

using namespace trainyard;

namespace {

/// One bit a nanosecond of successive short iterations: slow, and obviously right.
class Bits {
public:
    Bits(const std::vector<FreeWindow> &windows, Nanoseconds period, int iterations, Nanoseconds takenUntil)
        : m_isFree(std::size_t(period * (iterations + 1)), false)
    {
        for (int iteration = -1; iteration <= iterations; ++iteration)
            for (const FreeWindow &w : windows)
                for (Nanoseconds t = w.start + iteration * period; t < w.end + iteration * period; ++t)
                    if (t >= takenUntil && t < Nanoseconds(m_isFree.size()))
                        m_isFree[std::size_t(t)] = true;
    }
    [[nodiscard]] Nanoseconds firstFit(Nanoseconds from, Nanoseconds length, Nanoseconds period) const // -1: nowhere
    {
        for (Nanoseconds t = from; t + length <= Nanoseconds(m_isFree.size()) - period; ++t)
            if (std::all_of(m_isFree.begin() + t, m_isFree.begin() + t + length, [](bool isFree) { return isFree; }))
                return t;
        return -1;
    }
    void take(Nanoseconds start, Nanoseconds length) { std::fill_n(m_isFree.begin() + start, length, false); }

private:
    std::vector<bool> m_isFree;
};

std::vector<FreeWindow> randomWindows(std::mt19937 &random, Nanoseconds period)
{
    std::vector<FreeWindow> windows;
    Nanoseconds at = 1 + Nanoseconds(random() % 20);
    while (at < period) {
        const Nanoseconds end = at + 1 + Nanoseconds(random() % 40);
        windows.push_back({ at, end });
        at = end + 1 + Nanoseconds(random() % 30);
    }
    // the last one may run into the next iteration, up to its first work
    windows.back().end = std::min(windows.back().end, period + windows.front().start - 1);
    return windows;
}

GpuCalendar calendar(const std::vector<FreeWindow> &windows, Nanoseconds period, Nanoseconds takenUntil = 0)
{
    return GpuCalendar(untouchedIteration(windows, period, 1, false), takenUntil);
}

constexpr Nanoseconds kNever = GpuCalendar::Fit::kNever;

} // namespace

class TestGpuCalendar : public QObject {
    Q_OBJECT

private slots:
    void itFindsAndTakesLikeNanosecondsOneByOneOverSuccessiveIterations()
    {
        std::mt19937 random(11);
        int never = 0, later = 0;
        for (int trial = 0; trial < 300; ++trial) {
            const Nanoseconds period = 60 + Nanoseconds(random() % 200);
            const std::vector<FreeWindow> windows = randomWindows(random, period);
            const Nanoseconds takenUntil = trial % 3 == 0 ? Nanoseconds(random() % 500) : 0;
            GpuCalendar gpu = calendar(windows, period, takenUntil);
            Bits bits(windows, period, 14, takenUntil);
            Nanoseconds now = 0;
            for (int step = 0; step < 150 && now < 8 * period; ++step) {
                now += Nanoseconds(random() % 9);
                const Nanoseconds length = 1 + Nanoseconds(random() % 12), from = now + Nanoseconds(random() % 40);
                const GpuCalendar::Fit fit = gpu.firstFit(from, length);
                const Nanoseconds expected = bits.firstFit(from, length, period);
                if (expected < 0) // no window is that long, or the calendar of bits ends
                    continue;
                QCOMPARE(fit.start, expected);
                later += fit.start >= now + period;
                if (random() % 3 == 0)
                    continue;
                gpu.take(fit, length, now);
                bits.take(fit.start, length);
            }
            never += gpu.firstFit(now, period).start == kNever;
        }
        QVERIFY(never > 200);
        QVERIFY(later > 200); // what waits goes on in later iterations
    }

    void aWindowRunsOnIntoTheNextIteration()
    {
        const GpuCalendar gpu = calendar({ { 90, 110 } }, 100);
        QCOMPARE(gpu.firstFit(95, 12).start, 95);
        QCOMPARE(gpu.firstFit(0, 10).start, 0); // the end of the window of the iteration before
        QCOMPARE(gpu.firstFit(5, 6).start, 90);
        QCOMPARE(gpu.firstFit(105, 5).start, 105);
        QCOMPARE(gpu.firstFit(0, 21).start, kNever);
    }

    void whatIsTakenInOneIterationIsFreeInTheNext()
    {
        GpuCalendar gpu = calendar({ { 20, 50 } }, 100);
        gpu.take(gpu.firstFit(0, 30), 30, 0);
        QCOMPARE(gpu.firstFit(0, 30).start, 120);
        QCOMPARE(gpu.firstFit(0, 30, 60).start, 100); // too late: a bound is enough
    }

    void aRunThatDoesNotRepeatHasOneIteration()
    {
        GpuCalendar gpu(untouchedIteration({ { 20, 50 } }, 100, 1, true));
        gpu.take(gpu.firstFit(0, 30), 30, 0);
        QCOMPARE(gpu.firstFit(0, 1).start, kNever);
    }

    void remaindersTooShortForAnySlotAreForgotten()
    {
        GapTree tree({ { 0, 100 } }, 30);
        tree.take(*tree.firstFit(20, 30), 30); // 20 before it, 50 behind
        QVERIFY(!tree.firstFit(0, 51));
        QCOMPARE(*tree.firstFit(0, 30), 50);
        QCOMPARE(*tree.firstFit(0, 10), 50);
        tree.take(50, 30);
        QVERIFY(tree.isFull());
    }
};

TRAINYARD_APPLESS_TEST(TestGpuCalendar)
#include "tst_gpu_calendar.moc"
