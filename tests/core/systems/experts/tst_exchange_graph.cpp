// SPDX-License-Identifier: GPL-3.0-or-later
// Exchanges in the layer's graph against their own closed forms.
#include "core/systems/experts/traffic_aware.h"
#include "tests/core/systems/experts/exchange_cases.h"
#include "tests/core/systems/experts/layers.h"
#include "tests/support/test_program.h"

using namespace trainyard;

namespace {

ExchangeRequest randomRequest(layers::Drawing &drawing)
{
    const int nodes = 1 + drawing.pick(6), local = 1 << drawing.pick(4);
    ExchangeRequest request = ofRanks(nodes * local, local, nodes * local * (1 + drawing.pick(4)), 1);
    request.tokens.choices = 1 + drawing.pick(std::min(8, request.tokens.experts));
    request.tokens.tokens = drawing.uniform(1, 1e6);
    if (drawing.maybe())
        request.group.expertTensor = { 4, 2, request.group.inside, request.group.between };
    if (drawing.maybe())
        request.group.sameTokens = { 4, 4, request.group.inside, request.group.between };
    if (nodes > 1 && drawing.maybe())
        request.group.perSite = { local, (nodes - 1) * local };
    return request;
}

} // namespace

class TestExchangeGraph : public QObject {
    Q_OBJECT

private slots:
    void aloneAnExchangeTakesWhatItsLegsSay();
    void aGatherWaitsForAllThatRanBeside();
    void piecesOnTheirWayDoNotHoldTheWanUp();
    void aPieceIsWaitedForUntilItIsThere();
    void theChoiceIsNeverSlowerThanFlatInTheLayer();
    void contentionInsideANodeTurnsTheChoice();
};

/// Total = dispatch + combine, each as Exchange::alone() says, to the nanoseconds that spans are rounded to.
void TestExchangeGraph::aloneAnExchangeTakesWhatItsLegsSay()
{
    layers::Drawing drawing { std::mt19937(51) };
    for (int i = 0; i < 300; ++i) {
        const ExchangeRequest request = randomRequest(drawing);
        for (const MoeDispatch dispatch : kPlainDispatches) {
            const int pieces = 1 + drawing.pick(9);
            LayerWork work = layers::plain(
                {}, exchangeOf(request, dispatch, false, pieces), exchangeOf(request, dispatch, true, pieces));
            work.dispatch.piecesWait = drawing.maybe();
            const double expected = (work.dispatch.alone() + work.combine.alone()).value;
            const double legs = double(work.dispatch.legs.size() + work.combine.legs.size());
            QVERIFY2(std::abs(layerTimes(work).total.value - expected) <= 1e-9 * (legs + 1) * (pieces + 1),
                qPrintable(QStringLiteral("instance %1, dispatch %2").arg(i).arg(int(dispatch))));
        }
    }
}

/// n pieces over the WAN one behind the other: latency + all bytes, whatever n is; the last is on its way for as long.
void TestExchangeGraph::piecesOnTheirWayDoNotHoldTheWanUp()
{
    ExchangeRequest request = ofRanks(4, 1, 16, 2);
    request.group.perSite = { 2, 2 };
    const double bytes = 1000 * 2 * 100 / 2.0, expected = 0.030 + bytes / 1e9;
    for (const int pieces : { 1, 4, 16 }) {
        LayerWork work = layers::plain({}, exchangeOf(request, MoeDispatch::Flat, false, pieces), {});
        work.multiprocessors = 132;
        QVERIFY(std::abs(work.dispatch.alone().value - expected) < 1e-12);
        QVERIFY(std::abs(layerTimes(work).total.value - expected) < 1e-9 * (pieces + 2));
        const LayerChart chart = layerChart(work);
        QVERIFY(std::abs(toSeconds(chart.exchanges.front().end).value - expected) < 1e-9 * (pieces + 2));
        for (const LayerSpan &span : chart.spans) {
            if (span.track.stream == LayerStream::Wan) // the link is busy while bytes leave
                QVERIFY(std::abs(toSeconds(span.end - span.start).value - bytes / 1e9 / pieces) < 3e-9);
        }
    }
}

/// Piece i of the results leaves behind the i-th part of the products: last product + its piece + latency.
void TestExchangeGraph::aPieceIsWaitedForUntilItIsThere()
{
    constexpr int kPieces = 4;
    Leg there = layers::leg(Way::Wan, 0, 400), back = there;
    there.lag = back.lag = layers::us(5000);
    LayerWork work = layers::plain({ .products = layers::us(4000) }, { .legs = { there }, .pieces = kPieces },
        { .legs = { back }, .pieces = kPieces });
    work.productsInPieces = true;
    // 100 until the first piece has left, 5,000 until it is there, all products, a piece of the results, 5,000
    QVERIFY(std::abs(layers::microsecondsOf(layerTimes(work).total) - (100 + 5000 + 4000 + 100 + 5000)) < 0.1);
}

/// NVLink and NIC side by side, then the tensor group's gather: it begins behind the longer of them, whichever slows
/// down.
void TestExchangeGraph::aGatherWaitsForAllThatRanBeside()
{
    ExchangeRequest request = ofRanks(8, 4, 16, 2);
    request.group.sameTokens = request.group.expertTensor = { 4, 4, request.group.inside, request.group.between };
    request.tokens.tokens = 1e6;
    LayerWork work = layers::plain({}, exchangeOf(request, MoeDispatch::TensorSliced, false, 1), {});
    const std::vector<Leg> &legs = work.dispatch.legs;
    QCOMPARE(legs.size(), std::size_t(4)); // NVLink, NIC, gather, copy
    QVERIFY(legs[2].afterAll && legs[2].after == 1);
    QCOMPARE(legs[3].after, 2);
    // Others take nearly all of NVLink for as long as that: now the NVLink leg is the longer one.
    const double busy = 1e-2;
    work.nvlinkBandwidth = 160e9;
    work.beside.assign(9, { Way::Nvlink, busy * 160e9, {}, Seconds { busy } });
    const LayerChart chart = layerChart(work);
    Nanoseconds inside = 0, gather = 0;
    for (const LayerSpan &span : chart.spans) {
        if (span.step == LayerStep::Dispatch && span.track.stream == LayerStream::Nvlink)
            (span.track.lane == 0 ? inside : gather) = span.track.lane == 0 ? span.end : span.start;
    }
    QVERIFY(inside > 0 && gather >= inside);
    QVERIFY(toSeconds(inside) > legs[1].alone());
}

/// Layers with kernels, contention and pieces that products wait for: neither pass is slower than flat's.
void TestExchangeGraph::theChoiceIsNeverSlowerThanFlatInTheLayer()
{
    layers::Drawing drawing { std::mt19937(52) };
    int sliced = 0;
    for (int i = 0; i < 300; ++i) {
        ExchangeRequest request = randomRequest(drawing);
        request.group.sameTokens = { 8, 8, request.group.inside, request.group.between };
        MoeStrategy moe;
        moe.dispatch = MoeDispatch::TrafficAware;
        moe.pipelineBackward = drawing.maybe();
        LayerWork forward = layers::sample();
        forward.nicBandwidth = 25e9;
        forward.nvlinkBandwidth = 160e9;
        forward.memoryBandwidth = 1.41e12;
        forward.multiprocessors = 132;
        forward.isSharedBeside = drawing.maybe();
        LayerWork backward = forward;
        backward.isBackward = true;
        const ExchangeChoice choice = chooseExchange(
            request, moe, { .whole = { forward, backward }, .inPieces = {}, .slices = { forward, backward } });
        const auto times = [](LayerWork work, const Exchange &dispatch, const Exchange &combine) {
            work.dispatch = dispatch;
            work.combine = combine;
            return layerTimes(work).total;
        };
        const Exchange there = exchangeOf(request, MoeDispatch::Flat, false, 1),
                       back = exchangeOf(request, MoeDispatch::Flat, true, 1);
        QVERIFY2(times(forward, choice.forwardDispatch, choice.forwardCombine) <= times(forward, there, back),
            whyOf(request, choice).c_str());
        QVERIFY2(times(backward, choice.backwardDispatch, choice.backwardCombine) <= times(backward, there, back),
            whyOf(request, choice).c_str());
        sliced += choice.dispatch == MoeDispatch::TensorSliced ? 1 : 0;
    }
    QVERIFY2(sliced > 30 && sliced < 300, qPrintable(QString::number(sliced)));
}

/// Slices win with NVLink to themselves; where others keep it busy the gather costs more than the NICs save.
void TestExchangeGraph::contentionInsideANodeTurnsTheChoice()
{
    const ExchangeRequest request = ofTensorGroup(45);
    MoeStrategy moe;
    moe.dispatch = MoeDispatch::TrafficAware;
    LayerWork work;
    work.nvlinkBandwidth = 160e9;
    work.nicBandwidth = 45e9;
    QCOMPARE(chooseExchange(request, moe, { { work, work }, {}, { work, work } }).dispatch, MoeDispatch::TensorSliced);
    work.beside.assign(7, { Way::Nvlink, 160e9, {}, Seconds { 1 } });
    QCOMPARE(chooseExchange(request, moe, { { work, work }, {}, { work, work } }).dispatch, MoeDispatch::Flat);
}

TRAINYARD_APPLESS_TEST(TestExchangeGraph)
#include "tst_exchange_graph.moc"
