// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/experts/traffic_aware.h"
#include "tests/core/systems/experts/exchange_cases.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <random>

using namespace trainyard;

namespace {

MoeStrategy trafficAware()
{
    MoeStrategy moe;
    moe.dispatch = MoeDispatch::TrafficAware;
    return moe;
}

LinkClass slowStart()
{
    LinkClass kind = plainLink();
    kind.startUs = 20;
    return kind;
}
const LinkClass kSlowStart = slowStart();

/// The same with 20 us before each piece.
ExchangeRequest withStarts(ExchangeRequest request)
{
    for (Link *link : { &request.group.inside, &request.group.between, &request.group.sameTokens.inside,
             &request.group.expertTensor.inside })
        link->kind = &kSlowStart;
    return request;
}

ExchangeChoice chosen(const ExchangeRequest &request, const MoeStrategy &moe)
{
    return chooseExchange(request, moe, {});
}

Seconds backwardOf(const ExchangeChoice &choice)
{
    return choice.backwardDispatch.alone() + choice.backwardCombine.alone();
}
/// Of a layer that does nothing but exchange.
Seconds layerOf(const Exchange &dispatch, const Exchange &combine)
{
    LayerWork work;
    work.dispatch = dispatch;
    work.combine = combine;
    return layerTimes(work).total;
}

/// Of a layer without kernels; flat pieces come back as they arrive.
Seconds layerOf(const ExchangeChoice &choice, bool isForward)
{
    LayerWork work;
    work.dispatch = isForward ? choice.forwardDispatch : choice.backwardDispatch;
    work.combine = isForward ? choice.forwardCombine : choice.backwardCombine;
    work.productsInPieces = choice.dispatch == MoeDispatch::Flat;
    return layerTimes(work).total;
}

} // namespace

class TestTrafficAware : public QObject {
    Q_OBJECT

private slots:
    void othersAreTakenAsAsked();
    void slowNicsAreSparedBySlices();
    void splitTokensHaveNothingToGain();
    void slowLinksInsideKeepItFlat();
    void theBackwardWaitsUnlessItIsPipelined();
    void piecesAreAsAskedWhereAsked();
    void forwardPiecesAreTheBestOfAll();
    void eachCandidateIsJudgedByItsOwnKernels();
    void flatTakesThePiecesAskedForWhereTheyHelp();
    void itIsNeverSlowerThanFlat();
};

void TestTrafficAware::othersAreTakenAsAsked()
{
    const ExchangeRequest request = ofTensorGroup(25);
    for (const MoeDispatch dispatch : kPlainDispatches) {
        MoeStrategy moe;
        moe.dispatch = dispatch;
        moe.overlapChunks = 3;
        moe.backwardChunks = 2;
        const ExchangeChoice choice = chosen(request, moe);
        QCOMPARE(choice.dispatch, dispatch);
        QCOMPARE(choice.forwardDispatch, exchangeOf(request, dispatch, false, 3));
        QCOMPARE(choice.forwardCombine, exchangeOf(request, dispatch, true, 3));
        QCOMPARE(choice.backwardPieces, 2);
        QCOMPARE(choice.backwardDispatch.piecesWait, dispatch == MoeDispatch::TensorSliced);
        QVERIFY(!whyOf(request, choice).empty());
        moe.overlapChunks.reset();
        QCOMPARE(chosen(request, moe).forwardPieces, 1);
    }
}

void TestTrafficAware::slowNicsAreSparedBySlices()
{
    const ExchangeRequest request = withStarts(ofTensorGroup(11.25));
    const ExchangeChoice choice = chosen(request, trafficAware());
    QCOMPARE(choice.dispatch, MoeDispatch::TensorSliced);
    QVERIFY(choice.forwardPieces > 1);
    QVERIFY2(whyOf(request, choice).find("8.00 times less") != std::string::npos, whyOf(request, choice).c_str());
    QVERIFY2(whyOf(request, choice).starts_with("Slices in " + std::to_string(choice.forwardPieces)),
        whyOf(request, choice).c_str());
}

void TestTrafficAware::splitTokensHaveNothingToGain()
{
    ExchangeRequest request = ofTensorGroup(11.25);
    request.group.sameTokens.ranks = 1;
    const ExchangeChoice choice = chosen(request, trafficAware());
    QCOMPARE(choice.dispatch, MoeDispatch::Flat);
    QVERIFY2(whyOf(request, choice).find("nothing to gain") != std::string::npos, whyOf(request, choice).c_str());
}

/// NICs as fast as what the group would gather over.
void TestTrafficAware::slowLinksInsideKeepItFlat()
{
    const ExchangeRequest request = withStarts(ofTensorGroup(50, 10));
    const ExchangeChoice choice = chosen(request, trafficAware());
    QCOMPARE(choice.dispatch, MoeDispatch::Flat);
    QVERIFY2(whyOf(request, choice).find("against") != std::string::npos, whyOf(request, choice).c_str());
}

void TestTrafficAware::theBackwardWaitsUnlessItIsPipelined()
{
    const ExchangeRequest request = withStarts(ofTensorGroup(11.25));
    MoeStrategy moe = trafficAware();
    const ExchangeChoice released = chosen(request, moe);
    QCOMPARE(released.backwardPieces, 1);
    moe.pipelineBackward = true;
    const ExchangeChoice pipelined = chosen(request, moe);
    QCOMPARE(pipelined.backwardPieces, pipelined.forwardPieces);
    QVERIFY(!pipelined.backwardDispatch.piecesWait);
    QVERIFY(backwardOf(pipelined) < backwardOf(released));
}

void TestTrafficAware::piecesAreAsAskedWhereAsked()
{
    MoeStrategy moe = trafficAware();
    moe.overlapChunks = 6;
    const ExchangeChoice choice = chosen(withStarts(ofTensorGroup(11.25)), moe);
    QCOMPARE(choice.forwardPieces, 6);
    QCOMPARE(choice.backwardPieces, 6);
    QVERIFY(choice.backwardCombine.piecesWait);
}

/// Against every number up to the most that is looked at.
void TestTrafficAware::forwardPiecesAreTheBestOfAll()
{
    int sliced = 0;
    for (const double nic : { 3.0, 11.25, 22.5, 45.0 }) {
        for (const double tokens : { 512.0, 8192.0, 131072.0 }) {
            ExchangeRequest request = withStarts(ofTensorGroup(nic));
            request.tokens.tokens = tokens;
            const ExchangeChoice choice = chosen(request, trafficAware());
            double best = 1e9;
            for (int pieces = 1; pieces <= kMostPiecesOfExchange; ++pieces)
                best = std::min(best,
                    layerOf(exchangeOf(request, MoeDispatch::TensorSliced, false, pieces),
                        exchangeOf(request, MoeDispatch::TensorSliced, true, pieces))
                        .value);
            // Slow NICs: slices; where they are as fast as the gather, it may stay flat, which is then no slower.
            if (nic < 20 && tokens > 1000)
                QCOMPARE(choice.dispatch, MoeDispatch::TensorSliced);
            QVERIFY2(layerOf(choice, true).value <= best * 1.002, whyOf(request, choice).c_str());
            if (choice.dispatch == MoeDispatch::TensorSliced)
                ++sliced;
        }
    }
    QVERIFY2(sliced >= 6, qPrintable(QString::number(sliced)));
}

/// Links on which slices lose by themselves; with 100 ms fewer of products they win.
void TestTrafficAware::eachCandidateIsJudgedByItsOwnKernels()
{
    const ExchangeRequest request = withStarts(ofTensorGroup(50, 10));
    ExchangeWorks works;
    works.whole.forward.fullest.products = works.whole.backward.fullest.products = milliseconds(120);
    works.slices = works.whole;
    QCOMPARE(chooseExchange(request, trafficAware(), works).dispatch, MoeDispatch::Flat);
    works.slices.forward.fullest.products = works.slices.backward.fullest.products = milliseconds(20);
    const ExchangeChoice choice = chooseExchange(request, trafficAware(), works);
    QCOMPARE(choice.dispatch, MoeDispatch::TensorSliced);
    QVERIFY(choice.compared && choice.compared->flatForward - choice.compared->slicedForward > milliseconds(50));
}

/// Two ranks with tokens of their own, products as long as an exchange: three in a row, or 4 pieces that overlap,
/// unless products in pieces are much slower.
void TestTrafficAware::flatTakesThePiecesAskedForWhereTheyHelp()
{
    ExchangeRequest request = ofTensorGroup(25);
    request.group.sameTokens.ranks = request.group.expertTensor.ranks = 1;
    const Seconds one = exchangeOf(request, MoeDispatch::Flat, false, 1).alone();
    MoeStrategy moe = trafficAware();
    moe.overlapChunks = 4;
    ExchangeWorks works;
    works.whole.forward.fullest.products = works.whole.backward.fullest.products = one;
    works.inPieces = works.whole;
    const ExchangeChoice choice = chooseExchange(request, moe, works);
    QCOMPARE(choice.forwardPieces, 4);
    QCOMPARE(choice.backwardPieces, 4);
    works.inPieces.forward.fullest.products = one * 4;
    const ExchangeChoice slow = chooseExchange(request, moe, works);
    QCOMPARE(slow.forwardPieces, 1);
    QCOMPARE(slow.backwardPieces, 4);
}

void TestTrafficAware::itIsNeverSlowerThanFlat()
{
    std::mt19937 random(31);
    const auto draw = [&](double low, double high) {
        return low * std::pow(high / low, std::uniform_real_distribution<double>(0, 1)(random));
    };
    int sliced = 0;
    for (int i = 0; i < 500; ++i) {
        ExchangeRequest request = withStarts(ofTensorGroup(draw(1, 100), draw(20, 900), 1 << int(draw(1, 4))));
        request.group.ranks = int(draw(2, 64));
        request.tokens.experts = request.group.ranks * 2;
        request.tokens.choices = std::min(request.tokens.experts, int(draw(1, 9)));
        request.tokens.tokens = draw(64, 1e5);
        request.group.expertTensor.ranks = i % 2 == 0 ? 1 : request.group.sameTokens.ranks;
        MoeStrategy moe = trafficAware();
        moe.pipelineBackward = i % 3 == 0;
        if (i % 5 == 0)
            moe.overlapChunks = int(draw(1, 64));
        const ExchangeChoice choice = chosen(request, moe);
        const Seconds flat = exchangeOf(request, MoeDispatch::Flat, false, 1).alone()
            + exchangeOf(request, MoeDispatch::Flat, true, 1).alone();
        const double rounding = 1e-9 * 4 * (choice.forwardPieces + choice.backwardPieces);
        QVERIFY2(layerOf(choice, true).value <= flat.value + rounding, whyOf(request, choice).c_str());
        QVERIFY2(layerOf(choice, false).value <= flat.value + rounding, whyOf(request, choice).c_str());
        sliced += choice.dispatch == MoeDispatch::TensorSliced ? 1 : 0;
    }
    QVERIFY(sliced > 50 && sliced < 450); // both happen
}

TRAINYARD_APPLESS_TEST(TestTrafficAware)
#include "tst_traffic_aware.moc"
