// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/experts/layer_key.h"
#include "tests/core/systems/experts/layers.h"
#include "tests/support/test_program.h"

#include <functional>
#include <set>
#include <thread>

using namespace layers;

namespace {

using Change = std::function<void(LayerWork &)>;

/// One of each member that times depend on.
const std::vector<Change> &changes()
{
    static const std::vector<Change> all {
        [](LayerWork &w) { w.isBackward = true; },
        [](LayerWork &w) { w.fullest.before += us(1); },
        [](LayerWork &w) { w.fullest.router += us(1); },
        [](LayerWork &w) { w.fullest.permute += us(1); },
        [](LayerWork &w) { w.fullest.products += us(1); },
        [](LayerWork &w) { w.fullest.unpermute += us(1); },
        [](LayerWork &w) { w.fullest.shared += us(1); },
        [](LayerWork &w) { w.meanShare = 0.5; },
        [](LayerWork &w) { w.dispatch.legs[0].way = Way::Wan; },
        [](LayerWork &w) { w.dispatch.legs[0].bytes += 1; },
        [](LayerWork &w) { w.dispatch.legs[0].start += us(1); },
        [](LayerWork &w) { w.dispatch.legs[0].moving += us(1); },
        [](LayerWork &w) { w.dispatch.legs[0].lag += us(1); },
        [](LayerWork &w) { w.dispatch.legs[0].nvlinkToo += 1; },
        [](LayerWork &w) { w.dispatch.legs[1].after = -1; },
        [](LayerWork &w) { w.dispatch.legs[1].afterAll = true; },
        [](LayerWork &w) { w.dispatch.legs.pop_back(); },
        [](LayerWork &w) { w.dispatch.pieces = 2; },
        [](LayerWork &w) { w.dispatch.piecesWait = true; },
        [](LayerWork &w) { w.dispatch.sms = 4; },
        [](LayerWork &w) { w.combine = w.dispatch; },
        [](LayerWork &w) { w.productsInPieces = true; },
        [](LayerWork &w) { w.isSharedBeside = true; },
        [](LayerWork &w) { w.hostWait = us(1); },
        [](LayerWork &w) { w.memoryBandwidth = 1e12; },
        [](LayerWork &w) { w.nicBandwidth = 1e12; },
        [](LayerWork &w) { w.nvlinkBandwidth = 1e12; },
        [](LayerWork &w) { w.wanBandwidth = 1e12; },
        [](LayerWork &w) { w.multiprocessors = 132; },
        [](LayerWork &w) { w.launchesInOrder = true; },
        [](LayerWork &w) { w.beside = { leg(Way::Nic, 0, 10) }; },
    };
    return all;
}

LayerWork twoLegs()
{
    LayerWork work = sample();
    work.dispatch.legs.push_back(leg(Way::Nvlink, 2, 100, 0));
    return work;
}

} // namespace

class LayerCache : public QObject {
    Q_OBJECT
private slots:
    void worksThatDifferHaveOtherKeys();
    void pairsKnowWhichPassIsWhich();
    void logicalBytesChangeNoTime();
    void whatIsRememberedIsWhatWasSimulated();
    void whatIsForgottenIsFoundAgain();
    void threadsGetTheSame();
};

void LayerCache::worksThatDifferHaveOtherKeys()
{
    std::set<LayerKey> keys;
    LayerKey key;
    keyOf(twoLegs(), key);
    keys.insert(key);
    for (std::size_t i = 0; i < changes().size(); ++i) {
        LayerWork work = twoLegs();
        changes()[i](work);
        QVERIFY(work != twoLegs());
        keyOf(work, key);
        QVERIFY2(keys.insert(key).second, std::to_string(i).c_str());
    }
    // A leg of the dispatch is not one of the combine, nor one beside.
    LayerWork moved = twoLegs();
    moved.combine.legs.push_back(moved.dispatch.legs.back());
    moved.dispatch.legs.pop_back();
    keyOf(moved, key);
    QVERIFY(keys.insert(key).second);
}

void LayerCache::pairsKnowWhichPassIsWhich()
{
    LayerWork other = twoLegs();
    other.fullest.products = us(5);
    LayerKey one, two;
    keyOf(PairWork { twoLegs(), other }, one);
    keyOf(PairWork { other, twoLegs() }, two);
    QVERIFY(one != two);
}

void LayerCache::logicalBytesChangeNoTime()
{
    LayerWork work = twoLegs();
    const LayerTimes times = layerTimes(work);
    work.dispatch.logicalBytes = 5e8;
    QCOMPARE(layerChart(work).duration, toNanoseconds(times.total));
    QVERIFY(layerTimes(work) == times);
}

void LayerCache::whatIsRememberedIsWhatWasSimulated()
{
    Drawing draw { std::mt19937(61) };
    std::vector<LayerWork> works;
    for (int i = 0; i < 300; ++i)
        works.push_back(i % 2 == 0 ? draw.layer() : draw.crowdedLayer());
    for (int round = 0; round < 2; ++round)
        for (const LayerWork &work : works)
            QCOMPARE(toNanoseconds(layerTimes(work).total), layerChart(work).duration);
}

void LayerCache::whatIsForgottenIsFoundAgain()
{
    // More than are kept, three times, with one that is asked for again and again.
    LayerWork work = plain({ .products = us(1) }, {}, {});
    for (int round = 0; round < 3; ++round)
        for (int i = 1; i <= 12'000; ++i) {
            work.fullest.products = us(i);
            QCOMPARE(toNanoseconds(layerTimes(work).total), i * Nanoseconds { 1000 });
            work.fullest.products = us(0.5);
            QCOMPARE(toNanoseconds(layerTimes(work).total), Nanoseconds { 500 });
        }
}

void LayerCache::threadsGetTheSame()
{
    Drawing draw { std::mt19937(62) };
    std::vector<LayerWork> works;
    std::vector<Nanoseconds> expected;
    for (int i = 0; i < 200; ++i) {
        works.push_back(draw.crowdedLayer());
        expected.push_back(layerChart(works.back()).duration);
    }
    std::vector<std::vector<Nanoseconds>> found(8);
    {
        std::vector<std::jthread> threads;
        for (std::size_t t = 0; t < found.size(); ++t)
            threads.emplace_back([&, t] {
                for (std::size_t i = 0; i < 3 * works.size(); ++i)
                    found[t].push_back(toNanoseconds(layerTimes(works[(i + 31 * t) % works.size()]).total));
            });
    }
    for (std::size_t t = 0; t < found.size(); ++t)
        for (std::size_t i = 0; i < found[t].size(); ++i)
            QCOMPARE(found[t][i], expected[(i + 31 * t) % works.size()]);
}

TRAINYARD_APPLESS_TEST(LayerCache)
#include "tst_layer_cache.moc"
