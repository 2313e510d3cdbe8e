// SPDX-License-Identifier: GPL-3.0-or-later
// Two passes at once against the closed form of their four phases.
#include "tests/core/systems/experts/layers.h"
#include "tests/support/test_program.h"

using namespace layers;

namespace {

/// With exchanges of one leg: A's dispatch and combine, then B's.
PairWork pairOf(double aDispatch, double aCombine, double bDispatch, double bCombine)
{
    LayerWork forward = sample(), backward = sample();
    forward.dispatch = overNic(aDispatch);
    forward.combine = overNic(aCombine);
    backward.isBackward = true;
    backward.fullest.products = us(1400);
    backward.dispatch = overNic(bDispatch);
    backward.combine = overNic(bCombine);
    return { forward, backward };
}

} // namespace

class LayerPairs : public QObject {
    Q_OBJECT
private slots:
    void exchangesHideUnderTheOtherPass();
    void eachPhaseIsTheLongerOfKernelsAndExchange();
    void theOrderIsThatOfTheFourPhases();
    void multiprocessorsOfTheOtherPassSlowAKernel();
    void aSharedGpuSlowsAKernelBeyondItsMultiprocessors();
    void whereApartIsFasterNothingRunsTogether();
    void unevenRanksMeetAtEachPhase();
};

void LayerPairs::exchangesHideUnderTheOtherPass()
{
    // Kernels: A 900 + 10 + 40 + 700 + 50 + 120 = 1820, B 900 + 10 + 40 + 1400 + 50 + 120 = 2520. Of the phases' 1000,
    // 1520, 820 and 1000 none is shorter than the exchange beside it.
    const LayerTimes times = pairTimes(pairOf(300, 500, 500, 300));
    QCOMPARE(microsecondsOf(times.total), 4340.0);
    QCOMPARE(microsecondsOf(times.computing), 4340.0);
    QCOMPARE(times.exposed.value, 0.0);
    QCOMPARE(microsecondsOf(times.dispatch), 800.0);
    QCOMPARE(microsecondsOf(times.combine), 800.0);
}

void LayerPairs::eachPhaseIsTheLongerOfKernelsAndExchange()
{
    // T = max(A.before.., B.dispatch) + max(B.products.., A.dispatch) + max(A.products.., B.combine) + max(B.before..,
    // A.combine)
    Drawing draw { std::mt19937(51) };
    for (int round = 0; round < 200; ++round) {
        const double a = draw.uniform(0, 2500), b = draw.uniform(0, 2500), c = draw.uniform(0, 2500),
                     d = draw.uniform(0, 2500);
        const double phases = std::max(1000.0, c) + std::max(1520.0, a) + std::max(820.0, d) + std::max(1000.0, b);
        QVERIFY(std::abs(microsecondsOf(pairTimes(pairOf(a, b, c, d)).total) - phases) < 0.005);
    }
}

void LayerPairs::theOrderIsThatOfTheFourPhases()
{
    using enum LayerStep;
    struct Row {
        LayerStep step;
        bool isBackward;
        Nanoseconds start;
        bool operator==(const Row &) const = default;
    };
    const LayerChart chart = pairChart(pairOf(1600, 500, 500, 300));
    std::vector<Row> compute, nic;
    for (const LayerSpan &span : chart.spans)
        (span.track.stream == LayerStream::Compute ? compute : nic)
            .push_back({ span.step, span.isBackward, span.start });
    // The second phase lasts 1600, as long as A's dispatch; B's combine and A's products begin together behind it.
    const std::vector<Row> kernels { { Unpermute, false, 0 }, { Before, false, 50'000 }, { Router, false, 950'000 },
        { Permute, false, 960'000 }, { Products, true, 1'000'000 }, { Shared, true, 2'400'000 },
        { Products, false, 2'600'000 }, { Shared, false, 3'300'000 }, { Permute, true, 3'420'000 },
        { Router, true, 3'460'000 }, { Before, true, 3'470'000 }, { Unpermute, true, 4'370'000 } };
    const std::vector<Row> exchanges { { Dispatch, true, 0 }, { Dispatch, false, 1'000'000 },
        { Combine, true, 2'600'000 }, { Combine, false, 3'420'000 } };
    QVERIFY(compute == kernels);
    QVERIFY(nic == exchanges);
    QCOMPARE(chart.duration, 4'420'000);
}

void LayerPairs::multiprocessorsOfTheOtherPassSlowAKernel()
{
    // Kernels k beside an exchange of e on a share s: k + s e while the exchange is the shorter one, s = 1/4.
    PairWork pair = pairOf(300, 500, 500, 300);
    pair.forward.multiprocessors = pair.backward.multiprocessors = 132;
    for (Exchange *exchange :
        { &pair.forward.dispatch, &pair.forward.combine, &pair.backward.dispatch, &pair.backward.combine })
        exchange->sms = 33;
    const double slowed = 4340.0 + (300 + 500 + 500 + 300) / 4.0;
    QVERIFY(std::abs(microsecondsOf(pairTimes(pair).total) - slowed) < 0.01); // kernels end at whole nanoseconds
    QCOMPARE(pairTimes(pair).exposed.value, 0.0);
}

void LayerPairs::aSharedGpuSlowsAKernelBeyondItsMultiprocessors()
{
    // The same for a share that no multiprocessors are held for; both add up.
    PairWork pair = pairOf(300, 500, 500, 300);
    pair.loss = 0.25;
    const double moved = 300 + 500 + 500 + 300;
    QVERIFY(std::abs(microsecondsOf(pairTimes(pair).total) - (4340.0 + moved * 0.25)) < 0.01);
    pair.forward.multiprocessors = pair.backward.multiprocessors = 132;
    for (Exchange *exchange :
        { &pair.forward.dispatch, &pair.forward.combine, &pair.backward.dispatch, &pair.backward.combine })
        exchange->sms = 33;
    QVERIFY(std::abs(microsecondsOf(pairTimes(pair).total) - (4340.0 + moved * 0.5)) < 0.01);
}

void LayerPairs::whereApartIsFasterNothingRunsTogether()
{
    // B is nothing. A alone works piece by piece: 900 + 10 + 40, then 100 + 700 + 100 + 50 and 120; in phases its
    // exchanges would stand bare.
    PairWork pair { sample(), {} };
    pair.backward.isBackward = true;
    pair.forward.dispatch = overNic(400, 4);
    pair.forward.combine = overNic(400, 4);
    pair.forward.productsInPieces = true;
    QCOMPARE(microsecondsOf(pairTimes(pair).total), 900.0 + 10 + 40 + 100 + 700 + 100 + 50 + 120);
    QCOMPARE(pairChart(pair).duration, 2'020'000);
}

void LayerPairs::unevenRanksMeetAtEachPhase()
{
    PairWork pair = pairOf(1600, 500, 500, 300);
    const LayerChart even = pairChart(pair);
    pair.forward.meanShare = 0.5;
    const LayerChart uneven = pairChart(pair);
    QCOMPARE(uneven.ranks, 2);
    QCOMPARE(uneven.duration, even.duration);
    for (const LayerSpan &span : uneven.spans)
        if (span.track.rank == 1 && span.track.stream == LayerStream::Nic) {
            const auto same = std::ranges::find_if(even.spans,
                [&](const LayerSpan &other) { return other.step == span.step && other.isBackward == span.isBackward; });
            QCOMPARE(span.start, same->start);
        }
}

TRAINYARD_APPLESS_TEST(LayerPairs)
#include "tst_layer_pairs.moc"
