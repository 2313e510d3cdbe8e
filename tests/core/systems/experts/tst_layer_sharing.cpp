// SPDX-License-Identifier: GPL-3.0-or-later
// What meets on a NIC, on NVLink, in memory and on the multiprocessors, against closed forms.
#include "tests/core/systems/experts/layers.h"
#include "tests/support/test_program.h"

using namespace layers;

namespace {

Nanoseconds endOf(const LayerChart &chart, LayerStep step, LayerStream stream, int lane = 0)
{
    for (const LayerSpan &span : chart.spans)
        if (span.step == step && span.track == LayerTrack { 0, stream, lane })
            return span.end;
    qFatal("no such span");
}

} // namespace

class LayerSharing : public QObject {
    Q_OBJECT
private slots:
    void twoEqualExchangesOnOneNicTakeTwiceAsLong();
    void whatFitsBesideEachOtherSlowsNothing();
    void aLegAloneIsNeverSlowed();
    void anAllToAllInsideTheNodeTakesNvlinkFromTheGather();
    void gatherAndCopiesShareMemory();
    void bytesThroughOtherNicsCrossNvlink();
    void latencyTakesNoBandwidth();
    void kernelsHaveTheMultiprocessorsThatAreLeft();
    void aSlowExchangeHoldsItsMultiprocessorsAllTheSame();
    void legsOfOneExchangeHoldThemOnce();
    void moreBandwidthIsNeverSlower();
};

void LayerSharing::twoEqualExchangesOnOneNicTakeTwiceAsLong()
{
    LayerWork work = plain({}, overNic(300), {});
    work.beside = { leg(Way::Nic, 0, 300) };
    QCOMPARE(totalOf(work), 300'000);
    work.nicBandwidth = 50e9;
    const LayerChart chart = layerChart(work);
    QCOMPARE(endOf(chart, LayerStep::Dispatch, LayerStream::Nic), 600'000);
    QCOMPARE(endOf(chart, LayerStep::Beside, LayerStream::Nic, 1), 600'000);
    // Twice as much beside: equal until the dispatch is through, then alone. 600 + 300.
    work.beside = { leg(Way::Nic, 0, 600) };
    const LayerChart more = layerChart(work);
    QCOMPARE(more.duration, 600'000); // nothing waits for what is beside
    QCOMPARE(endOf(more, LayerStep::Beside, LayerStream::Nic, 1), 900'000);
}

void LayerSharing::whatFitsBesideEachOtherSlowsNothing()
{
    LayerWork work = plain({}, overNic(300), {});
    work.beside = { leg(Way::Nic, 0, 300) };
    work.nicBandwidth = 100e9;
    QCOMPARE(totalOf(work), 300'000);
    work.beside = { leg(Way::Wan, 0, 300), leg(Way::Nvlink, 0, 300) };
    work.nicBandwidth = work.nvlinkBandwidth = work.wanBandwidth = 50e9;
    QCOMPARE(totalOf(work), 300'000);
}

void LayerSharing::aLegAloneIsNeverSlowed()
{
    LayerWork work = plain({}, { .legs = { leg(Way::Nic, 5, 300) } }, { .legs = { leg(Way::Nvlink, 5, 300) } });
    work.nicBandwidth = work.nvlinkBandwidth = work.memoryBandwidth = 1e9; // a fiftieth of what the legs move
    QCOMPARE(totalOf(work), 610'000);
}

void LayerSharing::anAllToAllInsideTheNodeTakesNvlinkFromTheGather()
{
    // NVLink carries 200 of the all-to-all's; behind its 100 over NICs the gather moves 100. From 100 on both have
    // half: 100 left each, so both end at 300 instead of 200.
    LayerWork work =
        plain({}, { .legs = { leg(Way::Nvlink, 0, 200), leg(Way::Nic, 0, 100), leg(Way::Nvlink, 0, 100, 1) } }, {});
    QCOMPARE(totalOf(work), 200'000);
    work.nvlinkBandwidth = 50e9;
    const LayerChart chart = layerChart(work);
    QCOMPARE(endOf(chart, LayerStep::Dispatch, LayerStream::Nvlink, 0), 300'000);
    QCOMPARE(endOf(chart, LayerStep::Dispatch, LayerStream::Nvlink, 1), 300'000);
}

void LayerSharing::gatherAndCopiesShareMemory()
{
    // NVLink at 100 GB/s reads 100 and writes 100; copies have the other 800 of 1000: 100 us take 125.
    LayerWork work =
        plain({}, { .legs = { leg(Way::Nvlink, 0, 200, -1, 100e9), leg(Way::Memory, 0, 100, -1, 1000e9) } }, {});
    work.nvlinkBandwidth = 100e9;
    work.memoryBandwidth = 1000e9;
    const LayerChart chart = layerChart(work);
    QCOMPARE(endOf(chart, LayerStep::Dispatch, LayerStream::Nvlink), 200'000);
    QCOMPARE(endOf(chart, LayerStep::Dispatch, LayerStream::Copy), 125'000);
}

void LayerSharing::bytesThroughOtherNicsCrossNvlink()
{
    // 50 GB/s go to other GPUs' NICs; NVLink's own leg has 50 of 100 until that ends at 100 us: 50 of its 150 us are
    // done.
    Leg toNics = leg(Way::Nic, 0, 100);
    toNics.nvlinkToo = toNics.bytes;
    LayerWork work = plain({}, { .legs = { toNics, leg(Way::Nvlink, 0, 150, -1, 100e9) } }, {});
    work.nicBandwidth = 50e9;
    work.nvlinkBandwidth = 100e9;
    const LayerChart chart = layerChart(work);
    QCOMPARE(endOf(chart, LayerStep::Dispatch, LayerStream::Nic), 100'000);
    QCOMPARE(endOf(chart, LayerStep::Dispatch, LayerStream::Nvlink), 200'000);
}

void LayerSharing::latencyTakesNoBandwidth()
{
    // What is beside has the NIC for itself for 40 us of latency, then half: 300 = 40 + (t - 40) / 2.
    LayerWork work = plain({}, { .legs = { leg(Way::Nic, 40, 500) } }, {});
    work.beside = { leg(Way::Nic, 0, 300) };
    work.nicBandwidth = 50e9;
    QCOMPARE(endOf(layerChart(work), LayerStep::Beside, LayerStream::Nic, 1), 560'000);
}

void LayerSharing::kernelsHaveTheMultiprocessorsThatAreLeft()
{
    // A quarter of the GPU exchanges for 200 us: kernels of 300 take 300 + 200 / 4. The exchange is not slowed.
    LayerWork work = plain({ .shared = us(300) }, overNic(200), {});
    work.isSharedBeside = true;
    work.multiprocessors = 132;
    QCOMPARE(totalOf(work), 300'000);
    work.dispatch.sms = 33;
    const LayerChart chart = layerChart(work);
    QCOMPARE(chart.duration, 350'000);
    QCOMPARE(endOf(chart, LayerStep::Dispatch, LayerStream::Nic), 200'000);
    QCOMPARE(microsecondsOf(layerTimes(work).computing), 350.0);
    work.multiprocessors = 0; // nobody knows how many there are
    QCOMPARE(totalOf(work), 300'000);
    work.multiprocessors = 20; // fewer than it takes: kernels wait
    QCOMPARE(totalOf(work), 500'000);
}

void LayerSharing::aSlowExchangeHoldsItsMultiprocessorsAllTheSame()
{
    // Beside another on its NIC it takes 400 us, at half speed but on 33 multiprocessors: 600 + 400 / 4.
    LayerWork work = plain({ .shared = us(600) }, overNic(200), {});
    work.isSharedBeside = true;
    work.multiprocessors = 132;
    work.dispatch.sms = 33;
    work.nicBandwidth = 50e9;
    work.beside = { leg(Way::Nic, 0, 200) };
    QCOMPARE(totalOf(work), 700'000);
}

void LayerSharing::legsOfOneExchangeHoldThemOnce()
{
    // Two legs of 200 us at once, behind 20 us of latency: 220 us on a quarter, 400 + 55.
    LayerWork work =
        plain({ .shared = us(400) }, { .legs = { leg(Way::Nic, 20, 200), leg(Way::Nvlink, 20, 200) } }, {});
    work.isSharedBeside = true;
    work.multiprocessors = 132;
    work.dispatch.sms = 33;
    QCOMPARE(totalOf(work), 455'000);
}

void LayerSharing::moreBandwidthIsNeverSlower()
{
    // With one leg at a time and one thing beside it nothing can be delayed by what is faster elsewhere.
    Drawing draw { std::mt19937(31) };
    for (int round = 0; round < 300; ++round) {
        const Way way = static_cast<Way>(draw.pick(kWayCount));
        LayerWork work = plain({ .router = us(draw.uniform(0, 100)), .products = us(draw.uniform(0, 500)) },
            { .legs = { leg(way, draw.uniform(0, 20), draw.uniform(1, 400)) }, .pieces = 1 + draw.pick(4) },
            { .legs = { leg(way, draw.uniform(0, 20), draw.uniform(1, 400)) } });
        work.beside = { leg(way, 0, draw.uniform(1, 900)) };
        const double slow = draw.uniform(10e9, 90e9), fast = slow * draw.uniform(1, 2);
        const auto at = [&](double bandwidth) {
            work.nicBandwidth = work.nvlinkBandwidth = work.wanBandwidth = bandwidth;
            work.memoryBandwidth = 4 * bandwidth;
            return totalOf(work);
        };
        QVERIFY(at(fast) <= at(slow) + 4); // pieces end at whole nanoseconds
    }
}

TRAINYARD_APPLESS_TEST(LayerSharing)
#include "tst_layer_sharing.moc"
