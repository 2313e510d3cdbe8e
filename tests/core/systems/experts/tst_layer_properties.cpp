// SPDX-License-Identifier: GPL-3.0-or-later
// What holds for any layer and any pair, over random ones.
#include "tests/core/systems/experts/layers.h"
#include "tests/support/test_program.h"

#include <functional>
#include <map>

using namespace layers;

namespace {

std::vector<Seconds *> durationsOf(LayerWork &work)
{
    LayerKernels &kernels = work.fullest;
    std::vector<Seconds *> all { &kernels.before, &kernels.router, &kernels.permute, &kernels.products,
        &kernels.unpermute, &kernels.shared, &work.hostWait };
    for (Exchange *exchange : { &work.dispatch, &work.combine })
        for (Leg &leg : exchange->legs)
            all.insert(all.end(), { &leg.start, &leg.moving });
    return all;
}

Seconds kernelsOf(const LayerWork &work)
{
    const LayerKernels &kernels = work.fullest;
    return kernels.router + kernels.permute + kernels.products + kernels.unpermute + kernels.shared;
}

/// Rounding to nanoseconds: a task may end one late, and its flow one more for each change of its speed.
Nanoseconds roundingOf(const LayerWork &work)
{
    return 40 + 6 * (work.dispatch.pieces + work.combine.pieces);
}

void checkBusyTime(const LayerChart &chart, const LayerTimes &times)
{
    std::map<LayerTrack, Nanoseconds> busy, until;
    for (const LayerSpan &span : chart.spans) {
        QVERIFY(span.start >= until[span.track]); // one at a time, in order
        until[span.track] = span.end;
        if (span.step == LayerStep::Beside)
            continue;
        QVERIFY(span.end <= chart.duration);
        busy[span.track] += span.end - span.start;
        QVERIFY(static_cast<double>(span.end - span.start) >= span.alone * 1e9 - 2); // nothing is faster than alone
    }
    for (const auto &[track, time] : busy)
        QVERIFY(time <= chart.duration);
    QVERIFY(times.exposed.value >= 0);
    QVERIFY(times.computing.value >= 0);
    QCOMPARE(toNanoseconds(times.total), chart.duration);
    QCOMPARE(toNanoseconds(times.computing + times.exposed), chart.duration);
}

LayerWork asBackward(LayerWork work)
{
    work.isBackward = true;
    return work;
}

LayerWork asForward(LayerWork work)
{
    work.isBackward = false;
    return work;
}

} // namespace

class LayerProperties : public QObject {
    Q_OBJECT
private slots:
    void aLayerTakesAtLeastWhatEachOfItsStreamsIsBusy();
    void nothingThatTakesLongerShortensALayer();
    void overlapNeverCosts();
    void aPairTakesAtLeastWhatEachOfItsStreamsIsBusy();
    void aPairLiesBetweenItsPassesTogetherAndApart();
    void nothingThatTakesLongerShortensAPair();
};

void LayerProperties::aLayerTakesAtLeastWhatEachOfItsStreamsIsBusy()
{
    Drawing draw { std::mt19937(41) };
    for (int round = 0; round < 500; ++round) {
        const LayerWork work = round % 2 == 0 ? draw.layer() : draw.crowdedLayer();
        checkBusyTime(layerChart(work), layerTimes(work));
        // Kernels cannot be faster than alone: computing >= their sum, but for what a mean rank never has to do.
        QVERIFY(toNanoseconds(layerTimes(work).computing) >= toNanoseconds(kernelsOf(work)) - roundingOf(work));
    }
}

void LayerProperties::nothingThatTakesLongerShortensALayer()
{
    Drawing draw { std::mt19937(42) };
    for (int round = 0; round < 500; ++round) {
        LayerWork work = draw.layer();
        const Nanoseconds total = totalOf(work);
        const auto durations = durationsOf(work);
        for (Seconds *duration : durations) {
            const Seconds was = *duration;
            *duration = was + us(draw.uniform(0, 100));
            QVERIFY(totalOf(work) >= total - 1);
            *duration = was;
        }
    }
}

void LayerProperties::overlapNeverCosts()
{
    Drawing draw { std::mt19937(43) };
    for (int round = 0; round < 300; ++round) {
        LayerWork work = draw.layer();
        work.productsInPieces = work.dispatch.piecesWait = work.combine.piecesWait = false;
        const Nanoseconds total = totalOf(work);
        work.isSharedBeside = true;
        QVERIFY(totalOf(work) <= total + roundingOf(work));
        work.isSharedBeside = false;
        work.productsInPieces = true;
        work.launchesInOrder = false;
        QVERIFY(totalOf(work) <= total + roundingOf(work));
    }
}

void LayerProperties::aPairTakesAtLeastWhatEachOfItsStreamsIsBusy()
{
    Drawing draw { std::mt19937(44) };
    for (int round = 0; round < 300; ++round) {
        const PairWork pair { asForward(round % 2 == 0 ? draw.layer() : draw.crowdedLayer()),
            asBackward(round % 2 == 0 ? draw.layer() : draw.crowdedLayer()) };
        checkBusyTime(pairChart(pair), pairTimes(pair));
    }
}

void LayerProperties::aPairLiesBetweenItsPassesTogetherAndApart()
{
    // >= all kernels, >= each pass alone, <= both passes alone.
    Drawing draw { std::mt19937(45) };
    for (int round = 0; round < 500; ++round) {
        PairWork pair { asForward(round % 2 == 0 ? draw.layer() : draw.crowdedLayer()),
            asBackward(round % 2 == 0 ? draw.layer() : draw.crowdedLayer()) };
        pair.backward.launchesInOrder = pair.forward.launchesInOrder; // one GPU has one way
        const Nanoseconds together = toNanoseconds(pairTimes(pair).total);
        const Nanoseconds forward = toNanoseconds(layerTimes(pair.forward).total + pair.forward.fullest.before);
        const Nanoseconds backward = toNanoseconds(layerTimes(pair.backward).total + pair.backward.fullest.before);
        const Nanoseconds rounding = roundingOf(pair.forward) + roundingOf(pair.backward);
        QVERIFY(together <= forward + backward + rounding);
        const Nanoseconds kernels = toNanoseconds(kernelsOf(pair.forward) + kernelsOf(pair.backward)
            + pair.forward.fullest.before + pair.backward.fullest.before);
        QVERIFY(together >= kernels - rounding);
        if (round % 2 != 0)
            continue; // where things contend, a pass alone has other company than in the pair
        QVERIFY(together >= forward - rounding);
        QVERIFY(together >= backward - rounding);
    }
}

void LayerProperties::nothingThatTakesLongerShortensAPair()
{
    Drawing draw { std::mt19937(46) };
    for (int round = 0; round < 200; ++round) {
        PairWork pair { asForward(draw.layer()), asBackward(draw.layer()) };
        if (round % 2 == 1)
            for (LayerWork *work : { &pair.forward, &pair.backward }) {
                work->multiprocessors = 132;
                work->dispatch.sms = draw.pick(40);
                work->combine.sms = draw.pick(40);
            }
        const Nanoseconds total = toNanoseconds(pairTimes(pair).total);
        const Nanoseconds rounding = round % 2 == 1 ? roundingOf(pair.forward) + roundingOf(pair.backward) : 1;
        for (LayerWork *work : { &pair.forward, &pair.backward })
            for (Seconds *duration : durationsOf(*work)) {
                const Seconds was = *duration;
                *duration = was + us(draw.uniform(0, 100));
                QVERIFY(toNanoseconds(pairTimes(pair).total) >= total - rounding);
                *duration = was;
            }
    }
}

TRAINYARD_APPLESS_TEST(LayerProperties)
#include "tst_layer_properties.moc"
