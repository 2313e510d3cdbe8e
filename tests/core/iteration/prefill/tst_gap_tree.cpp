// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/gap_tree.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <random>

using namespace trainyard;

namespace {

/// One bit a nanosecond of a short iteration: slow, and obviously right.
class Bits {
public:
    Bits(const std::vector<FreeWindow> &windows, Nanoseconds period)
        : m_isFree(std::size_t(period), false)
    {
        for (const FreeWindow &w : windows)
            for (Nanoseconds t = w.start; t < w.end; ++t)
                m_isFree[std::size_t(t % period)] = true;
    }
    [[nodiscard]] bool isFree(Nanoseconds start, Nanoseconds length) const
    {
        for (Nanoseconds t = start; t < start + length; ++t)
            if (!m_isFree[std::size_t(t % period())])
                return false;
        return true;
    }
    [[nodiscard]] Nanoseconds firstFit(Nanoseconds from, Nanoseconds length) const // -1: nowhere
    {
        for (Nanoseconds t = from; t < from + period(); ++t)
            if (isFree(t, length))
                return t;
        return -1;
    }
    void take(Nanoseconds start, Nanoseconds length)
    {
        for (Nanoseconds t = start; t < start + length; ++t)
            m_isFree[std::size_t(t % period())] = false;
    }

private:
    [[nodiscard]] Nanoseconds period() const { return Nanoseconds(m_isFree.size()); }
    std::vector<bool> m_isFree;
};

} // namespace

class TestGapTree : public QObject {
    Q_OBJECT

private slots:
    void itFindsAndTakesLikeACalendarOfNanoseconds()
    {
        std::mt19937 random(11);
        for (int trial = 0; trial < 300; ++trial) {
            const Nanoseconds period = 60 + Nanoseconds(random() % 200);
            std::vector<FreeWindow> windows;
            Nanoseconds at = 1 + Nanoseconds(random() % 20);
            while (at < period) {
                const Nanoseconds end = at + 1 + Nanoseconds(random() % 40);
                windows.push_back({ at, end });
                at = end + 1 + Nanoseconds(random() % 30);
            }
            // the last one may run into the next iteration, up to its first work
            windows.back().end = std::min(windows.back().end, period + windows.front().start - 1);
            GapTree tree(windows, period, 1);
            Bits bits(windows, period);
            Nanoseconds now = 0;
            for (int step = 0; step < 80; ++step) {
                now += Nanoseconds(random() % 5);
                const Nanoseconds length = 1 + Nanoseconds(random() % 12);
                const auto fit = tree.firstFit(now, length);
                QCOMPARE(fit ? fit->start : -1, bits.firstFit(now, length));
                if (!fit || random() % 3 == 0)
                    continue;
                tree.take(*fit, length);
                bits.take(fit->start, length);
            }
        }
    }

    void aWindowRunsOnIntoTheNextIteration()
    {
        const GapTree tree({ { 90, 110 } }, 100, 1);
        QCOMPARE(tree.firstFit(95, 12)->start, 95);
        QCOMPARE(tree.firstFit(0, 10)->start, 0); // the end of the window of the iteration before
        QCOMPARE(tree.firstFit(5, 6)->start, 90);
        QCOMPARE(tree.firstFit(105, 5)->start, 105);
        QVERIFY(!tree.firstFit(0, 21));
    }

    void remaindersTooShortForAnySlotAreForgotten()
    {
        GapTree tree({ { 0, 100 } }, 200, 30);
        tree.take(*tree.firstFit(20, 30), 30); // 20 before it, 50 behind
        QVERIFY(!tree.firstFit(0, 51));
        QCOMPARE(tree.firstFit(0, 30)->start, 50);
        QCOMPARE(tree.firstFit(0, 10)->start, 50);
    }
};

TRAINYARD_APPLESS_TEST(TestGapTree)
#include "tst_gap_tree.moc"
