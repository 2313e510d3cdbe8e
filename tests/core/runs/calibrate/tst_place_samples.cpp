// SPDX-License-Identifier: GPL-3.0-or-later
// Durations by their place in the step: what is wild, what not every step has, and the error of a sum.
#include "core/runs/calibrate/place_samples.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <random>

using namespace trainyard;

namespace {

int oneGroup(std::uint32_t)
{
    return 0;
}

TypicalSeconds sumOf(const std::vector<StepPlace> &places)
{
    PeerRanks likes;
    likes.add(0, places);
    PlaceNoise noise;
    const auto locations = locationsOf(places, likes.startsOf(0, places), spreadOf(places));
    for (const PlaceLocation &location : locations)
        noise.add(location);
    TypicalSeconds sum;
    for (const PlaceLocation &location : locations) {
        const TypicalSeconds one = typicalOf(location, noise);
        sum.seconds += one.seconds, sum.variance += one.variance;
    }
    return sum;
}

} // namespace

class PlaceSamplesTest : public QObject {
    Q_OBJECT
private slots:
    void eachOfANameIsAPlaceOfItsOwn()
    {
        const PlaceDurations durations { { { 0, 3 }, { { 0, 1 }, { 0, 2 }, { 1, 1 }, { 1, 2 }, { 2, 5 }, { 2, 2 } } } };
        const auto places = placesOf(durations, 3, oneGroup);
        QCOMPARE(places.size(), std::size_t(2));
        QCOMPARE(places[0].logs.size(), std::size_t(3));
        QVERIFY(std::abs(places[1].logs[2] - std::log(2.0)) < 1e-12);
    }

    /// Kernels that are named anew in every step are samples of one sum, not each a place that only one step has.
    void namesOfOneStepAloneAreOnePlaceTogether()
    {
        PlaceDurations durations;
        for (std::uint32_t step = 0; step < 200; ++step)
            for (std::uint32_t i = 0; i < 10; ++i)
                durations[{ 0, step * 10 + i }].push_back({ step, 0.1 });
        const auto places = placesOf(durations, 200, oneGroup);
        QCOMPARE(places.size(), std::size_t(1));
        QVERIFY(std::abs(sumOf(places).seconds - 1) < 1e-9);
    }

    /// What one step in five has takes no time of a typical one.
    void whatIsSeldomTakesTheMedianOverAllSteps()
    {
        const PlaceDurations durations { { { 0, 1 }, { { 2, 4.0 } } } };
        QCOMPARE(sumOf(placesOf(durations, 5, oneGroup)).seconds, 0.0);
    }

    /// Log-normal samples around 1, one in a hundred five times as long: the sum of 50 places over five steps, and 1.96
    /// of its errors cover 50 in 95 ± 3 % of draws.
    void theErrorOfASumIsHonest()
    {
        std::mt19937 random(3);
        std::normal_distribution<double> normal(0, 0.05);
        std::uniform_real_distribution<double> share;
        constexpr int kDraws = 1000;
        int covered = 0;
        for (int draw = 0; draw < kDraws; ++draw) {
            PlaceDurations durations;
            for (std::uint32_t step = 0; step < 5; ++step)
                for (std::uint32_t name = 0; name < 50; ++name)
                    durations[{ 0, name }].push_back(
                        { step, std::exp(normal(random)) * (share(random) < 0.01 ? 5 : 1) });
            const TypicalSeconds sum = sumOf(placesOf(durations, 5, oneGroup));
            covered += std::abs(sum.seconds - 50) < 1.96 * std::sqrt(sum.variance);
        }
        QVERIFY2(std::abs(double(covered) / kDraws - 0.95) <= 0.03, qPrintable(QString::number(covered)));
    }
};

TRAINYARD_APPLESS_TEST(PlaceSamplesTest)
#include "tst_place_samples.moc"
