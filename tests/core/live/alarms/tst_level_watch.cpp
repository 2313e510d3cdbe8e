// SPDX-License-Identifier: GPL-3.0-or-later
// Sustained changes of a level are told once, with the step at which they began, and taken back; noise is not told.
#include "core/live/alarms/level_watch.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <array>
#include <bit>
#include <cmath>
#include <random>

using namespace trainyard::watch;

namespace {

/// Log-normal values with outliers, as durations have.
class Values {
public:
    Values(unsigned seed, double sigma, double outliers)
        : m_random(seed)
        , m_normal(0, sigma)
        , m_outliers(outliers)
    {
    }
    double next(double level = 1)
    {
        const double value = level * std::exp(m_normal(m_random));
        return m_share(m_random) < m_outliers ? value * 1.3 : value;
    }

private:
    std::mt19937_64 m_random;
    std::normal_distribution<double> m_normal;
    std::uniform_real_distribution<double> m_share;
    double m_outliers;
};

struct Told {
    std::vector<LevelChange> began, over;
    int delay = -1; // steps from the change to being told
};

Told watch(Values values, int steps, int first, int behind, double factor)
{
    Told told;
    LevelWatch watch;
    for (int i = 0; i < steps; ++i) {
        const double value = values.next(i >= first && i < behind ? factor : 1);
        const auto change = watch.add({ i, i, value }, 0.02);
        if (change && change->kind == LevelChange::Kind::Began) {
            told.began.push_back(*change);
            told.delay = i - first + 1;
        } else if (change && change->kind == LevelChange::Kind::Over) {
            told.over.push_back(*change);
        }
    }
    return told;
}

} // namespace

class LevelWatchTest : public QObject {
    Q_OBJECT
private slots:
    /// Share of the orders of 2 + 3 values, 3 of them hits, in which the last three have at least two: by counting.
    void theChanceIsThatOfAllOrders()
    {
        for (const auto &[before, hitsBefore, window, hits] :
            { std::array { 2, 1, 3, 2 }, std::array { 4, 0, 3, 3 }, std::array { 5, 2, 4, 1 } }) {
            const int n = before + window, all = hitsBefore + hits;
            int orders = 0, meant = 0;
            for (unsigned set = 0; set < 1u << n; ++set) {
                if (std::popcount(set) != all)
                    continue;
                ++orders;
                meant += std::popcount(set >> before) >= hits ? 1 : 0;
            }
            const double chance = chanceOfHits(before, hitsBefore, window, hits);
            QVERIFY2(std::abs(chance - double(meant) / orders) < 1e-12, qPrintable(QString::number(chance)));
        }
    }

    void noiseIsNotTold()
    {
        for (const double outliers : { 0.0, 0.1 })
            for (const double sigma : { 0.003, 0.03, 0.1 })
                for (unsigned seed = 1; seed <= 60; ++seed)
                    QVERIFY(watch(Values(seed, sigma, outliers), 100, 1000, 1000, 1).began.empty());
    }

    /// Three per cent more from step 40 to step 69, with noise of half a per cent.
    void aChangeIsToldOnceAndTakenBack()
    {
        for (unsigned seed = 1; seed <= 20; ++seed) {
            const Told told = watch(Values(seed, 0.005, 0), 110, 40, 70, 1.03);
            QCOMPARE(told.began.size(), std::size_t(1));
            QCOMPARE(told.over.size(), std::size_t(1));
            QVERIFY2(told.delay <= 8, qPrintable(QString::number(told.delay)));
            QVERIFY(std::abs(told.began[0].first.step - 40) <= 1);
            QVERIFY(std::abs(told.over[0].first.step - 70) <= 1);
            QVERIFY(std::abs(told.began[0].before - 1) < 0.005);
            QVERIFY(std::abs(told.began[0].after - 1.03) < 0.01);
        }
    }

    /// Outliers of a third more in one of ten steps hide no change of a tenth.
    void outliersHideNothing()
    {
        for (unsigned seed = 1; seed <= 20; ++seed) {
            const Told told = watch(Values(seed, 0.01, 0.1), 100, 50, 1000, 1.1);
            QCOMPARE(told.began.size(), std::size_t(1));
            QVERIFY(std::abs(told.began[0].first.step - 50) <= 3);
        }
    }

    /// What matters is asked for: a change of one per cent is surely there, and is of no interest.
    void whatDoesNotMatterIsNotTold() { QVERIFY(watch(Values(1, 0.001, 0), 100, 40, 1000, 1.01).began.empty()); }

    /// A level that falls for some steps and comes back has not risen.
    void aDipIsNoChange()
    {
        for (unsigned seed = 1; seed <= 20; ++seed)
            QVERIFY(watch(Values(seed, 0.004, 0), 100, 40, 55, 0.9).began.empty());
    }

    /// From the first step on above a limit, once five steps show it that are close together; never by chance.
    void aLimitIsHeldAgainstTheLatestValues()
    {
        for (unsigned seed = 1; seed <= 200; ++seed) {
            LevelWatch clean;
            Values noise(seed, 0.1, 0.05);
            for (int i = 0; i < 40; ++i) {
                (void)clean.add({ i, 0, noise.next() }, 10);
                QVERIFY(!clean.isAbove(1.05));
            }
        }
        LevelWatch watch;
        Values values(3, 0.01, 0);
        for (int i = 0; i < 30; ++i) {
            (void)watch.add({ i, 0, values.next(i < 20 ? 1.3 : 1.5) }, 10);
            QCOMPARE(watch.isAbove(1.1), i >= 4);
            QVERIFY(!watch.isBelow(1.1));
        }
        QCOMPARE(watch.firstAbove(1.1).step, 0);
        QCOMPARE(watch.firstAbove(1.4).step, 20);
    }

    void itTakesWhateverComes()
    {
        LevelWatch watch;
        QCOMPARE(watch.level(), 0.0);
        for (int i = 0; i < 1000; ++i)
            QVERIFY(!watch.add({ i, 0, i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : 5.0 }, 0.1));
        QVERIFY(watch.points() <= 160);
        for (int i = 0; i < 400; ++i)
            (void)watch.add({ i, 0, i < 200 ? 0.0 : 1e300 }, 1e-300);
        QVERIFY(watch.isRaised());
    }
};

TRAINYARD_APPLESS_TEST(LevelWatchTest)
#include "tst_level_watch.moc"
