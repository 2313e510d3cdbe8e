// SPDX-License-Identifier: GPL-3.0-or-later
// The search for orders of datacenters and stages in each, against trying all of them.
#include "core/iteration/placement/block_search.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <set>

using namespace trainyard;

namespace {

SearchTimes randomTimes(std::mt19937 &random)
{
    const auto pick = [&](int below) { return int(random() % unsigned(below)); };
    SearchTimes times;
    const int count = 2 + pick(4);
    times.stages = 2 + pick(6);
    times.microBatches = times.fewest = 1 + pick(20);
    times.hops.resize(std::size_t(count));
    for (int d = 0; d < count; ++d) {
        times.holds.push_back(pick(times.stages));
        times.alike.push_back(d);
        const double speed = 0.5 + pick(8) / 4.0;
        StageBound stage { 1 / speed, 2 / speed, 1 / speed, 2 / speed, 3 / speed, 0, double(1 + pick(4)), pick(6) > 0 };
        times.sites.push_back(std::vector<StageBound>(std::size_t(times.stages), stage));
    }
    for (int a = 0; a < count; ++a) {
        for (int b = 0; b < a; ++b) {
            if (pick(4) == 0)
                continue;
            HopBound hop { b, 0, { pick(100) / 20.0, pick(100) / 20.0 }, { 0, 0 }, pick(50) / 10.0, double(pick(9)) };
            hop.alone[0] = hop.serialization[0];
            hop.alone[1] = hop.serialization[1];
            times.hops[std::size_t(a)].push_back(hop);
            std::swap(hop.serialization[0], hop.serialization[1]);
            std::swap(hop.alone[0], hop.alone[1]);
            hop.to = a;
            times.hops[std::size_t(b)].push_back(hop);
        }
    }
    return times;
}

bool isLinked(const SearchTimes &times, int a, int b)
{
    const auto &hops = times.hops[std::size_t(a)];
    return std::ranges::find(hops, b, &HopBound::to) != hops.end();
}

/// Every sequence of different linked datacenters with every number of stages in each.
std::vector<std::vector<DatacenterBlock>> everything(const SearchTimes &times)
{
    std::vector<std::vector<DatacenterBlock>> all;
    std::vector<DatacenterBlock> path;
    const std::function<void(int)> extend = [&](int left) {
        if (left == 0)
            all.push_back(path);
        for (int d = 0; d < int(times.holds.size()) && left > 0; ++d) {
            if (std::ranges::find(path, d, &DatacenterBlock::datacenter) != path.end()
                || (!path.empty() && !isLinked(times, path.back().datacenter, d)))
                continue;
            for (int stages = 1; stages <= std::min(left, times.holds[std::size_t(d)]); ++stages) {
                path.push_back({ d, stages });
                extend(left - stages);
                path.pop_back();
            }
        }
    };
    extend(times.stages);
    return all;
}

/// As many as each holds, all but the last or all but the first.
bool takesMost(const SearchTimes &times, const std::vector<DatacenterBlock> &blocks)
{
    const auto isFull = [&](const DatacenterBlock &b) { return b.stages == times.holds[std::size_t(b.datacenter)]; };
    return std::all_of(blocks.begin(), blocks.end() - 1, isFull)
        || std::all_of(blocks.begin() + 1, blocks.end(), isFull);
}

} // namespace

class TestBlockSearch : public QObject {
    Q_OBJECT

private slots:
    void theLeastBoundOfAllIsFound();
    void whatIsLeftOutIsNoBetterThanSaid();
    void stagesCanBeHeldWhereAnyOrderHoldsThem();
    void ofTwoAlikeDatacentersTheNearerIsKept();
    void aSearchThatIsCutSaysSo();
    void aRoundTripMoreNeverLowersABound();
};

void TestBlockSearch::theLeastBoundOfAllIsFound()
{
    std::mt19937 random(3);
    int found = 0;
    for (int trial = 0; trial < 500; ++trial) {
        const SearchTimes times = randomTimes(random);
        for (const BlockSizes sizes : { BlockSizes::Most, BlockSizes::Any }) {
            for (const bool byCost : { false, true }) {
                double least = INFINITY;
                bool mayFit = false;
                for (const auto &blocks : everything(times)) {
                    if (sizes == BlockSizes::Most && !takesMost(times, blocks))
                        continue;
                    const BoundedBlocks bound = boundBlocks(times, blocks);
                    const double value = byCost ? bound.usd : bound.seconds;
                    if (bound.mayFit && !mayFit)
                        least = INFINITY; // those that may fit come first
                    mayFit = mayFit || bound.mayFit;
                    if (bound.mayFit == mayFit)
                        least = std::min(least, value);
                }
                const FoundBlocks answer = searchBlocks(times, { sizes, byCost, 5, 1'000'000 });
                QCOMPARE(answer.blocks.empty(), std::isinf(least));
                if (answer.blocks.empty())
                    continue;
                ++found;
                QCOMPARE(byCost ? answer.blocks.front().usd : answer.blocks.front().seconds, least);
            }
        }
    }
    QVERIFY(found > 500);
}

void TestBlockSearch::whatIsLeftOutIsNoBetterThanSaid()
{
    std::mt19937 random(7);
    for (int trial = 0; trial < 200; ++trial) {
        const SearchTimes times = randomTimes(random);
        const FoundBlocks answer = searchBlocks(times, { BlockSizes::Any, false, 3, 1'000'000 });
        for (const auto &blocks : everything(times)) {
            const BoundedBlocks bound = boundBlocks(times, blocks);
            if (bound.mayFit && std::ranges::find(answer.blocks, blocks, &BoundedBlocks::blocks) == answer.blocks.end())
                QVERIFY(bound.seconds >= answer.rest);
        }
    }
}

void TestBlockSearch::stagesCanBeHeldWhereAnyOrderHoldsThem()
{
    std::mt19937 random(13);
    for (int trial = 0; trial < 500; ++trial) {
        const SearchTimes times = randomTimes(random);
        QCOMPARE(canHoldAll(times), !everything(times).empty());
    }
}

void TestBlockSearch::ofTwoAlikeDatacentersTheNearerIsKept()
{
    SearchTimes times;
    times.stages = 2;
    times.microBatches = times.fewest = 4;
    times.holds = { 1, 1, 1 };
    times.alike = { 0, 1, 1 };
    times.sites.assign(3, std::vector<StageBound>(2, StageBound { 1, 2, 1, 2, 3, 0, 0, true }));
    times.hops = { { { 1, 0, { 1, 1 }, { 1, 1 }, 9 }, { 2, 1, { 1, 1 }, { 1, 1 }, 5 } },
        { { 0, 0, { 1, 1 }, { 1, 1 }, 9 } }, { { 0, 1, { 1, 1 }, { 1, 1 }, 5 } } };
    const FoundBlocks answer = searchBlocks(times);
    QCOMPARE(answer.looked, 8); // 0-1, 0-2, 1-0, 2-0, from either end
    QCOMPARE(answer.blocks.size(), std::size_t(2));
    for (const BoundedBlocks &b : answer.blocks)
        for (const DatacenterBlock &block : b.blocks)
            QVERIFY(block.datacenter != 1);
}

void TestBlockSearch::aSearchThatIsCutSaysSo()
{
    SearchTimes times;
    const int count = 30;
    times.stages = 12;
    times.microBatches = times.fewest = 4;
    times.holds.assign(count, 1);
    times.alike.resize(count);
    std::iota(times.alike.begin(), times.alike.end(), 0);
    times.sites.assign(count, std::vector<StageBound>(12, StageBound { 1, 2, 1, 2, 3, 0, 0, true }));
    times.hops.resize(count);
    for (int a = 0; a < count; ++a)
        for (int b = 0; b < count; ++b)
            if (a != b)
                times.hops[std::size_t(a)].push_back({ b, 0, { 1, 1 }, { 1, 1 }, 1.0 + std::abs(a - b) });
    const FoundBlocks answer = searchBlocks(times); // 30!/18! orders
    QVERIFY(!answer.blocks.empty());
    QCOMPARE(answer.rest, 0.0);
    QVERIFY(answer.looked < 100'000);
    std::set<int> begins;
    for (const BoundedBlocks &b : answer.blocks)
        begins.insert(b.blocks.front().datacenter);
    QVERIFY(begins.size() > 1); // the visits are shared by where pipelines begin
}

void TestBlockSearch::aRoundTripMoreNeverLowersABound()
{
    std::mt19937 random(19);
    for (int trial = 0; trial < 200; ++trial) {
        const SearchTimes times = randomTimes(random);
        SearchTimes longer = times;
        for (auto &hops : longer.hops)
            for (HopBound &hop : hops)
                hop.latency *= 2;
        for (const auto &blocks : everything(times))
            QVERIFY(boundBlocks(longer, blocks).seconds >= boundBlocks(times, blocks).seconds);
    }
}

TRAINYARD_APPLESS_TEST(TestBlockSearch)
#include "tst_block_search.moc"
