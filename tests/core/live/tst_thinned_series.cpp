// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/store/thinned_series.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

using namespace trainyard;
using namespace trainyard::live;

namespace {

constexpr Moment kBegin = 1'760'000'000'000'000'000;

SampleSeries written(const ThinnedSeries &series)
{
    SampleSeries made;
    series.writeTo(made, 0);
    return made;
}

} // namespace

class TestThinnedSeries : public QObject {
    Q_OBJECT

private slots:
    /// Hours of samples in a few thousand points: of any stretch the least and the largest survive, within one stretch
    /// of where they were.
    void noPeakIsLost()
    {
        const SeriesLimits limits { .recent = 200, .thinned = 200 };
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            std::mt19937_64 random(seed);
            ThinnedSeries series(false);
            std::map<Moment, double> all;
            Moment at = kBegin;
            double level = 0;
            for (int i = 0; i < 20'000; ++i) {
                at += std::int64_t(random() % 400'000'000);
                level += double(random() % 2'001) / 1'000 - 1;
                const double value = random() % 500 == 0 ? level + 1e6 : level;
                if (all.emplace(at, value).second)
                    QVERIFY(series.add(at, value, limits) == ThinnedSeries::Taken::Yes);
            }
            const SampleSeries kept = written(series);
            QVERIFY(kept.at.size() <= limits.recent + limits.thinned);
            QVERIFY(std::ranges::is_sorted(kept.at));
            for (std::size_t i = 0; i < kept.at.size(); ++i)
                QCOMPARE(all.at(kept.at[i]), kept.value[i]); // points are samples that were told
            std::vector<Moment> moments;
            std::vector<double> values;
            for (const auto &[moment, value] : all) {
                moments.push_back(moment);
                values.push_back(value);
            }
            for (int i = 0; i < 200; ++i) {
                std::size_t from = random() % moments.size(), to = random() % moments.size();
                if (to < from)
                    std::swap(from, to);
                double least = INFINITY, largest = -INFINITY;
                for (std::size_t j = from; j <= to; ++j) {
                    least = std::min(least, values[j]);
                    largest = std::max(largest, values[j]);
                }
                double keptLeast = INFINITY, keptLargest = -INFINITY;
                for (std::size_t j = 0; j < kept.at.size(); ++j)
                    if (kept.at[j] >= moments[from] - series.stretch()
                        && kept.at[j] <= moments[to] + series.stretch()) {
                        keptLeast = std::min(keptLeast, kept.value[j]);
                        keptLargest = std::max(keptLargest, kept.value[j]);
                    }
                QVERIFY(keptLeast <= least && keptLargest >= largest);
            }
            // the latest are whole
            for (std::size_t i = 0; i < limits.recent; ++i)
                QCOMPARE(kept.at[kept.at.size() - 1 - i], moments[moments.size() - 1 - i]);
            // of all of them, the very least and largest
            QCOMPARE(std::ranges::min(kept.value), std::ranges::min(values));
            QCOMPARE(std::ranges::max(kept.value), std::ranges::max(values));
        }
    }

    void theOrderInWhichSamplesComeDoesNotMatter()
    {
        const SeriesLimits limits { .recent = 50, .thinned = 40 };
        for (std::uint64_t seed = 1; seed <= 50; ++seed) {
            std::mt19937_64 random(seed);
            std::vector<std::pair<Moment, double>> samples;
            for (int i = 0; i < 3'000; ++i) // 100 a second: they come up to 20 s late
                samples.emplace_back(kBegin + i * 10'000'000LL, random() % 20 ? double(random() % 100) : NAN);
            ThinnedSeries inOrder(false), late(false);
            for (const auto &[at, value] : samples)
                inOrder.add(at, value, limits);
            std::vector<std::pair<Moment, std::size_t>> order;
            for (std::size_t i = 0; i < samples.size(); ++i)
                order.emplace_back(samples[i].first + std::int64_t(random() % 20'000'000'000), i);
            std::ranges::sort(order);
            for (const auto &[arrival, i] : order)
                QVERIFY(late.add(samples[i].first, samples[i].second, limits) == ThinnedSeries::Taken::Yes);
            const SampleSeries a = written(inOrder), b = written(late);
            QVERIFY(a.at == b.at);
            for (std::size_t i = 0; i < a.value.size(); ++i)
                QVERIFY(a.value[i] == b.value[i] || (std::isnan(a.value[i]) && std::isnan(b.value[i])));
        }
    }

    void whatIsToldAgainIsNotTakenAgain()
    {
        ThinnedSeries series(false);
        QVERIFY(series.add(kBegin, 1, {}) == ThinnedSeries::Taken::Yes);
        QVERIFY(series.add(kBegin, 2, {}) == ThinnedSeries::Taken::Again);
        ThinnedSeries steps(true);
        QVERIFY(steps.add(5, 1, {}) == ThinnedSeries::Taken::Yes);
        QVERIFY(steps.add(5, 1, {}) == ThinnedSeries::Taken::Again);
        QVERIFY(steps.add(6, 1, {}) == ThinnedSeries::Taken::Yes);
        QVERIFY(steps.add(5, 2, {}) == ThinnedSeries::Taken::Anew); // another attempt's loss
        QCOMPARE(written(steps).at, (std::vector<Moment> { 5, 6 }));
        steps.forgetBehind(5); // what the earlier attempt told of the steps behind
        QCOMPARE(written(steps).at, (std::vector<Moment> { 5 }));
        QCOMPARE(written(steps).value, (std::vector<double> { 2 }));
        QCOMPARE(written(steps).value, std::vector<double> { 2 });
    }

    /// An evaluation's loss that comes late: the steps behind it are there again when the next one is told. A restart
    /// tells the steps behind anew, and leaves none of the attempt before.
    void aStepThatIsToldTwiceIsNoOtherAttempt()
    {
        const SeriesLimits limits { .recent = 64, .thinned = 64 };
        for (const bool isRestart : { false, true }) {
            ThinnedSeries steps(true);
            for (Moment step = 0; step < 60; ++step)
                steps.add(step, 1, limits);
            QVERIFY(steps.add(39, 2, limits) == ThinnedSeries::Taken::Anew);
            steps.forgetBehind(39);
            QVERIFY(steps.add(39, 3, limits) == ThinnedSeries::Taken::Anew); // and a third time
            steps.forgetBehind(39);
            QCOMPARE(steps.latest(), Moment(39)); // until more is known
            steps.add(isRestart ? 40 : 60, 4, limits);
            QCOMPARE(written(steps).at.size(), std::size_t(isRestart ? 41 : 61));
            QCOMPARE(written(steps).value[39], 3.0);
            QCOMPARE(written(steps).value.back(), 4.0);
            QCOMPARE(steps.latest(), Moment(isRestart ? 40 : 60));
        }
        ThinnedSeries full(true); // what comes back keeps to the bound
        for (Moment step = 0; step < 64; ++step)
            full.add(step, 1, limits);
        full.add(10, 2, limits);
        full.forgetBehind(10);
        full.add(64, 1, limits);
        QCOMPARE(full.thinned(), std::int64_t(1));
        QCOMPARE(written(full).at.size(), std::size_t(65));
    }

    void whatComesTooLateIsTold()
    {
        const SeriesLimits limits { .recent = 10, .thinned = 10 };
        ThinnedSeries series(false);
        for (int i = 100; i < 200; ++i)
            series.add(kBegin + i * 1'000'000'000LL, i, limits);
        QVERIFY(series.add(kBegin + 199'500'000'000, 0, limits) == ThinnedSeries::Taken::Yes);
        QVERIFY(series.add(kBegin + 175'500'000'000, 0, limits) == ThinnedSeries::Taken::Yes); // 24 s late
        QVERIFY(series.add(kBegin + 50'000'000'000, 0, limits) == ThinnedSeries::Taken::Late);
        ThinnedSeries fresh(false); // a server that is asked for what was before
        fresh.add(kBegin + 900'000'000'000, 1, limits);
        QVERIFY(fresh.add(kBegin, 1, limits) == ThinnedSeries::Taken::Yes);
    }

    void memoryStaysWhereItIs()
    {
        ThinnedSeries series(false);
        std::size_t most = 0;
        for (int i = 0; i < 2'000'000; ++i) {
            series.add(kBegin + i * 1'000'000'000LL, i % 97, {});
            if (i == 100'000)
                most = series.bytes();
        }
        QVERIFY(series.bytes() <= 2 * most);
        QCOMPARE(series.thinned(), std::int64_t(2'000'000 - 2'048));
    }
};

TRAINYARD_GUILESS_TEST(TestThinnedSeries)
#include "tst_thinned_series.moc"
