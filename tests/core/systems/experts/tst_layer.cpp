// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/systems/experts/layers.h"
#include "tests/support/test_program.h"

#include <limits>
#include <map>

using namespace layers;

namespace {

/// d[leg][piece] = max(what it waits for, d[leg][piece - 1]) + start + moving / pieces, in microseconds from the begin.
double timeAlone(const Exchange &exchange)
{
    std::vector<double> before(exchange.legs.size(), 0);
    for (int piece = 0; piece < exchange.pieces; ++piece) {
        std::vector<double> now = before;
        const double allOfLast = before.empty() ? 0 : *std::ranges::max_element(before);
        for (std::size_t i = 0; i < now.size(); ++i) {
            const Leg &of = exchange.legs[i];
            double ready = before[i];
            if (of.afterAll)
                ready = std::max(ready, *std::max_element(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(i)));
            else if (of.after >= 0)
                ready = std::max(ready, now[static_cast<std::size_t>(of.after)]);
            else if (exchange.piecesWait)
                ready = std::max(ready, allOfLast);
            now[i] = ready + microsecondsOf(of.start) + microsecondsOf(of.moving) / exchange.pieces;
        }
        before = now;
    }
    return before.empty() ? 0 : *std::ranges::max_element(before);
}

double kernelsOf(const LayerKernels &kernels)
{
    return microsecondsOf(kernels.router + kernels.permute + kernels.products + kernels.unpermute + kernels.shared);
}

std::vector<std::pair<LayerStep, int>> stepsOf(const LayerChart &chart, LayerStream stream, int rank = 0)
{
    std::vector<std::pair<LayerStep, int>> steps;
    for (const LayerSpan &span : chart.spans)
        if (span.track.stream == stream && span.track.rank == rank)
            steps.emplace_back(span.step, span.piece);
    return steps;
}

LayerSpan spanOf(const LayerChart &chart, LayerStep step, int rank = 0, int piece = 0)
{
    for (const LayerSpan &span : chart.spans)
        if (span.step == step && span.track.rank == rank && span.piece == piece)
            return span;
    qFatal("no such span");
}

} // namespace

class LayerTest : public QObject {
    Q_OBJECT
private slots:
    void aLayerWithoutOverlapIsTheSumOfItsParts();
    void aBackwardGoesTheOtherWay();
    void aPipelineOfThreeStagesIsItsClosedForm();
    void whatTravelsAloneTakesItsOwnTime();
    void piecesThatWaitPassOneAfterTheOther();
    void expertsMayWorkPieceByPiece();
    void sharedExpertsHideBehindTheExchange();
    void theHostIsWaitedFor();
    void oneQueueToTheDeviceHoldsUpTheGather();
    void exchangesBeginWhenBothRanksAreReady();
    void evenlyLoadedRanksAreOneRank();
    void bytesAreThoseOfTheLegs();
    void aLayerWithoutExpertsElsewhereMovesNothing();
    void whereThereIsNoWayTimesStayInRange();
};

void LayerTest::aLayerWithoutOverlapIsTheSumOfItsParts()
{
    // 10 + 40 + 300 + 700 + 500 + 50 + 120; kernels without `before` are 920 of it.
    const LayerTimes times = layerTimes(sample());
    QCOMPARE(microsecondsOf(times.total), 1720.0);
    QCOMPARE(microsecondsOf(times.computing), 920.0);
    QCOMPARE(microsecondsOf(times.exposed), 800.0);
    QCOMPARE(microsecondsOf(times.dispatch), 300.0);
    QCOMPARE(microsecondsOf(times.combine), 500.0);
    using enum LayerStep;
    const std::vector<std::pair<LayerStep, int>> order { { Router, 0 }, { Permute, 0 }, { Products, 0 },
        { Unpermute, 0 }, { Shared, 0 } };
    QVERIFY(stepsOf(layerChart(sample()), LayerStream::Compute) == order);
}

void LayerTest::aBackwardGoesTheOtherWay()
{
    LayerWork work = sample();
    work.isBackward = true;
    using enum LayerStep;
    const LayerChart chart = layerChart(work);
    const std::vector<std::pair<LayerStep, int>> order { { Shared, 0 }, { Unpermute, 0 }, { Products, 0 },
        { Permute, 0 }, { Router, 0 } };
    QVERIFY(stepsOf(chart, LayerStream::Compute) == order);
    const std::vector<std::pair<LayerStep, int>> exchanges { { Dispatch, 0 }, { Combine, 0 } };
    QVERIFY(stepsOf(chart, LayerStream::Nic) == exchanges);
    QCOMPARE(chart.duration, 1'720'000);
}

void LayerTest::aPipelineOfThreeStagesIsItsClosedForm()
{
    // T(n) = sum of t_x(n) + (n - 1) max t_x(n), t_x(n) = start_x + moving_x / n; T(1) is one after the other.
    Drawing draw { std::mt19937(5) };
    for (int round = 0; round < 200; ++round) {
        const int n = round < 20 ? 1 : 1 + draw.pick(64);
        Exchange sliced { .legs = { leg(Way::Nic, draw.uniform(0, 30), draw.uniform(1, 900)),
                              leg(Way::Nvlink, draw.uniform(0, 30), draw.uniform(1, 900), 0),
                              leg(Way::Memory, draw.uniform(0, 5), draw.uniform(1, 900), 1) },
            .pieces = n };
        double sum = 0, most = 0;
        for (const Leg &of : sliced.legs) {
            const double piece = microsecondsOf(of.start) + microsecondsOf(of.moving) / n;
            sum += piece;
            most = std::max(most, piece);
        }
        LayerWork work = plain({}, sliced, {});
        work.nicBandwidth = 50e9; // what a leg takes alone is there for it alone
        const double microseconds = static_cast<double>(totalOf(work)) / 1e3;
        QVERIFY(std::abs(microseconds - (sum + (n - 1) * most)) <= 1e-3 * n);
    }
}

void LayerTest::whatTravelsAloneTakesItsOwnTime()
{
    Drawing draw { std::mt19937(6) };
    for (int round = 0; round < 500; ++round) {
        LayerWork work = draw.layer();
        work.productsInPieces = work.launchesInOrder = false;
        const double expected = kernelsOf(work.fullest) + microsecondsOf(work.hostWait) + timeAlone(work.dispatch)
            + timeAlone(work.combine);
        const double rounding = 1e-3 * (8 + work.dispatch.pieces + work.combine.pieces);
        QVERIFY(std::abs(static_cast<double>(totalOf(work)) / 1e3 - expected) <= rounding);
    }
}

void LayerTest::piecesThatWaitPassOneAfterTheOther()
{
    // Two stages of 100 and 60 in 4 pieces: 4 x (25 + 15) = 160 as if there were no pieces; overlapped 25 + 15 + 3
    // x 25.
    Exchange exchange { .legs = { leg(Way::Nic, 0, 100), leg(Way::Nvlink, 0, 60, 0) }, .pieces = 4 };
    QCOMPARE(totalOf(plain({}, exchange, {})), 115'000);
    exchange.piecesWait = true;
    QCOMPARE(totalOf(plain({}, exchange, {})), 160'000);
}

void LayerTest::expertsMayWorkPieceByPiece()
{
    // Dispatch 400, products 800, combine 400 in 4 pieces of 100, 200, 100: products are never idle once they have
    // begun, so 100 + 800 + 100; all at once 1600.
    LayerWork work = plain({ .products = us(800) }, overNic(400, 4), overNic(400, 4));
    QCOMPARE(totalOf(work), 1'600'000);
    work.productsInPieces = true;
    const LayerChart chart = layerChart(work);
    QCOMPARE(chart.duration, 1'000'000);
    for (int piece = 0; piece < 4; ++piece) {
        QCOMPARE(spanOf(chart, LayerStep::Products, 0, piece).start, 100'000 + piece * 200'000);
        // The first is ready at 300, where the last dispatch still has the NIC.
        QCOMPARE(spanOf(chart, LayerStep::Combine, 0, piece).start, std::max(400'000, 300'000 + piece * 200'000));
    }
    // One NIC carries both ways: with products of 40 each it is never idle, 8 x 100. The first combine is ready long
    // before the last dispatch is through, and goes behind it.
    work.fullest.products = us(160);
    QCOMPARE(totalOf(work), 800'000);
    // A combine in two pieces goes behind every second piece of the products.
    work.fullest.products = us(800);
    work.combine = overNic(400, 2);
    const LayerChart halves = layerChart(work);
    QCOMPARE(spanOf(halves, LayerStep::Combine, 0, 0).start, 500'000);
    QCOMPARE(spanOf(halves, LayerStep::Combine, 0, 1).start, 900'000);
}

void LayerTest::sharedExpertsHideBehindTheExchange()
{
    LayerWork work = sample(); // dispatch 300 hides shared experts of 120
    work.isSharedBeside = true;
    QCOMPARE(totalOf(work), 1'600'000);
    // 400: beside the dispatch 300 are done. Products have half of the GPU until the other 100 are, and take 800.
    work.fullest.shared = us(400);
    const LayerChart chart = layerChart(work);
    QCOMPARE(chart.duration, 1'700'000);
    QCOMPARE(spanOf(chart, LayerStep::Shared).end, 550'000);
    QCOMPARE(spanOf(chart, LayerStep::Products).end, 1'150'000);
    const LayerTimes times = layerTimes(work);
    QCOMPARE(microsecondsOf(times.computing), 10.0 + 40 + 300 + 800 + 50);
    QCOMPARE(microsecondsOf(times.exposed), 500.0);
}

void LayerTest::theHostIsWaitedFor()
{
    LayerWork work = sample();
    work.hostWait = us(35);
    const LayerTimes times = layerTimes(work);
    QCOMPARE(microsecondsOf(times.total), 1755.0);
    QCOMPARE(microsecondsOf(times.computing), 920.0);
}

void LayerTest::oneQueueToTheDeviceHoldsUpTheGather()
{
    // Stages of 100 and 100 in 4 pieces. The sends go first, so the first gather is behind the last send, which starts
    // at 300: 300 + 4 x 100. With a queue each: 5 x 100.
    LayerWork work = plain({}, { .legs = { leg(Way::Nic, 0, 400), leg(Way::Nvlink, 0, 400, 0) }, .pieces = 4 }, {});
    QCOMPARE(totalOf(work), 500'000);
    work.launchesInOrder = true;
    QCOMPARE(totalOf(work), 700'000);
}

void LayerTest::exchangesBeginWhenBothRanksAreReady()
{
    LayerWork work = sample();
    work.meanShare = 0.25;
    const LayerChart chart = layerChart(work);
    QCOMPARE(chart.ranks, 2);
    QCOMPARE(chart.duration, totalOf(sample()));
    const LayerSpan most = spanOf(chart, LayerStep::Products), mean = spanOf(chart, LayerStep::Products, 1);
    QCOMPARE(mean.end - mean.start, (most.end - most.start) / 4);
    QCOMPARE(mean.start, most.start);
    QCOMPARE(spanOf(chart, LayerStep::Combine, 1).start, most.end);
    QCOMPARE(spanOf(chart, LayerStep::Router, 1).end, spanOf(chart, LayerStep::Router).end); // before load matters
    QCOMPARE(layerTimes(work).total, layerTimes(sample()).total);
}

void LayerTest::evenlyLoadedRanksAreOneRank()
{
    Drawing draw { std::mt19937(7) };
    for (int round = 0; round < 200; ++round) {
        LayerWork work = round % 2 == 0 ? draw.layer() : draw.crowdedLayer();
        work.meanShare = 1;
        const LayerChart one = layerChart(work);
        work.meanShare = 1 - 1e-12; // less than a nanosecond of any kernel
        const LayerChart two = layerChart(work);
        QCOMPARE(two.ranks, 2);
        QCOMPARE(two.duration, one.duration);
        QCOMPARE(two.spans.size(), 2 * one.spans.size());
        for (std::size_t i = 0; i < one.spans.size(); ++i)
            for (const std::size_t rank : { 0, 1 }) {
                const LayerSpan &a = one.spans[i], &b = two.spans[i + rank * one.spans.size()];
                QCOMPARE(b.track.rank, static_cast<int>(rank));
                QVERIFY(std::tuple(b.step, b.piece, b.start, b.end) == std::tuple(a.step, a.piece, a.start, a.end));
            }
    }
}

void LayerTest::bytesAreThoseOfTheLegs()
{
    Drawing draw { std::mt19937(8) };
    for (int round = 0; round < 200; ++round) {
        const LayerWork work = draw.crowdedLayer();
        std::map<std::pair<LayerStep, Way>, double> expected;
        for (const auto &[step, exchange] :
            { std::pair(LayerStep::Dispatch, work.dispatch), std::pair(LayerStep::Combine, work.combine) })
            for (const Leg &of : exchange.legs) {
                expected[{ step, of.way }] += of.bytes;
                expected[{ step, Way::Nvlink }] += of.nvlinkToo;
            }
        const LayerChart chart = layerChart(work);
        for (const LayerExchange &exchange : chart.exchanges)
            for (int way = 0; way < kWayCount; ++way) {
                const double bytes = expected[{ exchange.step, static_cast<Way>(way) }];
                QVERIFY(std::abs(exchange.bytes[static_cast<std::size_t>(way)] - bytes) <= 1e-9 * bytes);
                double ofSpans = 0;
                constexpr Way kWayOf[] = { Way::Memory, Way::Nic, Way::Nvlink, Way::Wan, Way::Memory };
                for (const LayerSpan &span : chart.spans) {
                    if (span.step != exchange.step || span.track.rank != 0)
                        continue;
                    ofSpans += kWayOf[static_cast<int>(span.track.stream)] == static_cast<Way>(way) ? span.bytes : 0;
                    ofSpans += static_cast<Way>(way) == Way::Nvlink ? span.nvlinkToo : 0;
                }
                QVERIFY(std::abs(ofSpans - bytes) <= 1e-9 * bytes);
            }
    }
}

void LayerTest::aLayerWithoutExpertsElsewhereMovesNothing()
{
    LayerWork work = sample();
    work.dispatch = work.combine = {};
    const LayerTimes times = layerTimes(work);
    QCOMPARE(microsecondsOf(times.total), 920.0);
    QCOMPARE(times.exposed.value, 0.0);
    QVERIFY(layerChart(work).exchanges.empty());
}

void LayerTest::whereThereIsNoWayTimesStayInRange()
{
    // Infinite over a link that is not there, in as many pieces as are ever looked at: years, and no overflow.
    const Leg nowhere {
        .way = Way::Wan, .bytes = 1e6, .start = us(5), .moving = us(std::numeric_limits<double>::infinity())
    };
    for (const int pieces : { 1, 256 }) {
        LayerWork work = sample();
        work.dispatch = { .legs = { nowhere, leg(Way::Nvlink, 0, 100, 0) }, .pieces = pieces };
        work.combine = work.dispatch;
        work.productsInPieces = pieces > 1;
        work.multiprocessors = 132;
        work.dispatch.sms = 20;
        work.wanBandwidth = 1e9;
        const LayerTimes times = layerTimes(work);
        QVERIFY(times.total.value > 1e6 && times.total.value < 9e9);
        QVERIFY(times.exposed.value > 1e6);
        work.isBackward = true;
        QVERIFY(pairTimes({ sample(), work }).total.value > 1e6);
    }
}

TRAINYARD_APPLESS_TEST(LayerTest)
#include "tst_layer.moc"
