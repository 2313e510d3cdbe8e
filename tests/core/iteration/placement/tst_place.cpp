// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/layouts/placements.h"
#include "core/iteration/placement/place.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include "tests/support/plans.h"
#include "tests/support/workloads.h"

#include <numeric>
#include <random>

using namespace trainyard;
using namespace trainyard::test;

namespace {

Workload placed(Plan plan, PlacementMode mode = PlacementMode::PipelineAcross)
{
    return test::placedWorkload(std::move(plan), mode);
}

} // namespace

class TestPlace : public QObject {
    Q_OBJECT

private slots:
    void everyGpuIsUsedOnceOrIdleForAReason();
    void replicasOfAStageShareADatacenter();
    void stagesLieInContiguousBlocks();
    void autoDataIsTheLargestThatCanBePlaced();
    void movingOneNodeCostsAReplica();
    void aSmallThirdSiteGetsNoStage();
    void aChainBeginsAtItsSlowerEndWhateverTheRates();
    void unlinkedDatacentersAreNotJoined();
    void wholePipelinesStayInADatacenterWhereDataGoesAcross();
    void aPinnedPlacementThatNoLongerFitsStaysUnplaced();
    void nodesThatCannotHoldATensorGroupAreExplained();
    void unequalGpusOfASiteMakeClasses();
    void layersThatDoNotDivideGoToTheMiddle();
    void aPipelineThatTurnsBackEndsWhereItBegan();
    void aPlanMayGiveTheLayersOfItsStages();
};

void TestPlace::everyGpuIsUsedOnceOrIdleForAReason()
{
    std::mt19937 random(3);
    for (int trial = 0; trial < 300; ++trial) {
        Plan plan = threeSites(1 + int(random() % 12), 1 + int(random() % 8));
        plan.parallelism.tensor = 1 << (random() % 4);
        for (Datacenter &d : plan.cluster.datacenters) {
            d.pools[0].nodes = int(random() % 12) + (&d == &plan.cluster.datacenters.front());
            d.pools[0].gpusPerNode = 1 + int(random() % 9);
        }
        const auto mode = random() % 2 ? PlacementMode::PipelineAcross : PlacementMode::DataAcross;
        const Layout layout = placed(plan, mode).layout;
        std::vector<std::vector<int>> seen(3);
        for (std::size_t d = 0; d < 3; ++d)
            seen[d].resize(std::size_t(plan.cluster.datacenters[d].pools[0].gpus()));
        int used = 0, idle = 0;
        for (const GpuRun &run : layout.runs) {
            used += run.gpus;
            for (int g = run.firstGpu; g < run.firstGpu + run.gpus; ++g)
                QCOMPARE(++seen[std::size_t(run.datacenter)].at(std::size_t(g)), 1);
        }
        for (const IdleGpus &i : layout.idle) {
            idle += i.gpus;
            QVERIFY(!i.reason.empty());
        }
        QCOMPARE(used, layout.gpusUsed);
        QCOMPARE(used + idle, layout.gpusTotal);
        QCOMPARE(layout.gpusTotal, plan.cluster.gpus());
        QCOMPARE(used, layout.data * plan.parallelism.pipeline * plan.parallelism.tensor);
        const int pipelines = std::accumulate(layout.classes.begin(), layout.classes.end(), 0,
            [](int sum, const PipelineClass &c) { return sum + c.pipelines; });
        QCOMPARE(pipelines, layout.data);
    }
}

void TestPlace::replicasOfAStageShareADatacenter()
{
    const Layout layout = placed(threeSites(8)).layout;
    for (std::size_t stage = 0; stage < 6; ++stage) {
        for (const PipelineClass &c : layout.classes)
            QCOMPARE(c.locations[stage].datacenter, layout.classes.front().locations[stage].datacenter);
    }
}

void TestPlace::stagesLieInContiguousBlocks()
{
    const Layout layout = placed(threeSites(8)).layout;
    int changes = 0;
    const auto &locations = layout.classes.front().locations;
    for (std::size_t i = 1; i < locations.size(); ++i)
        changes += locations[i].datacenter != locations[i - 1].datacenter;
    QCOMPARE(changes, 2);
}

void TestPlace::autoDataIsTheLargestThatCanBePlaced()
{
    std::mt19937 random(11);
    for (int trial = 0; trial < 100; ++trial) {
        Plan plan = threeSites(1, 2 + int(random() % 6));
        for (Datacenter &d : plan.cluster.datacenters)
            d.pools[0].nodes = 1 + int(random() % 20);
        const Layout found = placed(plan).layout;
        Plan more = plan;
        more.parallelism.data = found.data + 1;
        if (found.data + 1 <= plan.workload.globalBatch)
            QCOMPARE(placed(more).layout.data, 0);
        if (found.data > 0) {
            more.parallelism.data = found.data;
            QCOMPARE(placed(more).layout.data, found.data);
        }
    }
}

void TestPlace::movingOneNodeCostsAReplica()
{
    Plan plan = threeSites(8); // six stages, four replicas: every datacenter holds two stages of 32 GPUs
    QCOMPARE(placed(plan).layout.data, 4);
    plan.cluster.datacenters[0].pools[0].nodes = 7;
    plan.cluster.datacenters[1].pools[0].nodes = 9;
    const Layout after = placed(plan).layout;
    QCOMPARE(after.data, 3);
    QCOMPARE(after.gpusUsed, 3 * 6 * 8);
}

void TestPlace::aChainBeginsAtItsSlowerEndWhateverTheRates()
{
    // 2 (s1 + l1 + s2 + l2) + M max(s1, s2) is the same from either end but for rounding, which must not choose: the
    // slower hop comes first, where more micro-batches are in flight.
    for (double gbps = 1; gbps < 2000; gbps *= 1.13) {
        Plan plan = threeSites(8);
        plan.cluster.wanLinks = { wanLink("a", "b", 13, gbps), wanLink("b", "c", 49, gbps),
            wanLink("a", "c", 60, gbps) };
        for (WanLink &link : plan.cluster.wanLinks)
            link.tcpWindowMb = 1e4;
        const Layout layout = placed(plan).layout;
        std::vector<int> sites;
        for (const StageLocation &location : layout.classes.front().locations)
            if (sites.empty() || sites.back() != location.datacenter)
                sites.push_back(location.datacenter);
        QCOMPARE(sites, (std::vector<int> { 2, 1, 0 }));
    }
}

void TestPlace::aSmallThirdSiteGetsNoStage()
{
    Plan plan = threeSites(12);
    plan.cluster.datacenters[2].pools[0].nodes = 2;
    plan.parallelism.data = 4;
    const Layout layout = placed(plan).layout;
    QCOMPARE(layout.data, 4);
    const auto idle =
        std::find_if(layout.idle.begin(), layout.idle.end(), [](const IdleGpus &i) { return i.datacenter == 2; });
    QVERIFY(idle != layout.idle.end());
    QCOMPARE(idle->gpus, 16);
    QCOMPARE(idle->reason, std::string("a stage needs 32 GPUs, this datacenter has 16"));
}

void TestPlace::unlinkedDatacentersAreNotJoined()
{
    Plan plan = threeSites(8);
    plan.cluster.wanLinks = { wanLink("a", "c") };
    const Layout layout = placed(plan).layout;
    for (const GpuRun &run : layout.runs)
        QVERIFY(run.datacenter != 1);
    QVERIFY(layout.data > 0);
}

void TestPlace::wholePipelinesStayInADatacenterWhereDataGoesAcross()
{
    const Layout layout = placed(threeSites(14), PlacementMode::DataAcross).layout;
    QCOMPARE(layout.data, 6); // 14 nodes hold two pipelines of six stages each
    QCOMPARE(
        layout.classes.size(), std::size_t(3)); // one a datacenter; 64 = 4 x 11 + 2 x 10 splits between two of them
    for (const PipelineClass &c : layout.classes) {
        for (const StageLocation &location : c.locations)
            QCOMPARE(location.datacenter, c.locations.front().datacenter);
    }
}

void TestPlace::aPinnedPlacementThatNoLongerFitsStaysUnplaced()
{
    Plan plan = threeSites(8);
    plan.placement.stages = { { "a", 4, {} }, { "b", 1, {} }, { "c", 1, {} } };
    plan.parallelism.data = 4;
    const Layout layout = placed(plan).layout;
    QCOMPARE(layout.data, 0);
    QVERIFY(!layout.unplaced.empty());
    plan.parallelism.data.reset();
    QCOMPARE(placed(plan).layout.data, 2); // four stages of 16 GPUs fill a's 64
}

void TestPlace::nodesThatCannotHoldATensorGroupAreExplained()
{
    Plan plan = threeSites(8);
    plan.cluster.datacenters[1].pools[0].gpusPerNode = 4;
    const Layout layout = placed(plan).layout;
    const auto idle =
        std::find_if(layout.idle.begin(), layout.idle.end(), [](const IdleGpus &i) { return i.datacenter == 1; });
    QVERIFY(idle != layout.idle.end());
    QCOMPARE(idle->reason, std::string("a tensor group needs 8 GPUs in one node, these nodes have 4"));
}

void TestPlace::unequalGpusOfASiteMakeClasses()
{
    Plan plan = oneSite(4, 4);
    plan.cluster.datacenters[0].pools.push_back(site("x", 4, "a100-sxm-80gb").pools[0]);
    const Layout layout = placed(plan).layout;
    QCOMPARE(layout.data, 2);
    for (const PipelineClass &c : layout.classes)
        QCOMPARE(c.locations.size(), std::size_t(4));
    // Two stages on each kind of GPU, so both pipelines are alike.
    QCOMPARE(layout.classes.size(), std::size_t(1));
}

void TestPlace::layersThatDoNotDivideGoToTheMiddle()
{
    // Llama 3.1 405B: 126 layers on 16 stages are 7, 8 x 14, 7 in the paper.
    ModelSpec model;
    model.layers = 126;
    const auto chunks = splitLayers(model, 16, 1);
    QCOMPARE(chunks.front().front().layers, 7);
    QCOMPARE(chunks.back().front().layers, 7);
    int total = 0;
    for (const auto &stage : chunks)
        total += stage.front().layers;
    QCOMPARE(total, 126);
    QVERIFY(chunks.front().front().hasEmbedding && chunks.back().front().hasHead);
    // With eight virtual stages a device, embedding and head have one to themselves.
    const auto single = splitLayers(model, 16, 8);
    QCOMPARE(single.front().front().layers, 0);
    QCOMPARE(single.back().back().layers, 0);
    QCOMPARE(single[1].front().layers, 1);
}

void TestPlace::aPipelineThatTurnsBackEndsWhereItBegan()
{
    ModelSpec model;
    model.layers = 22;
    const auto chunks = splitLayers(model, 4, 2, ChunkPlacement::V); // 2, 6 x 3, 2 with the ends taking less
    QVERIFY(chunks[0][0].hasEmbedding && chunks[0][1].hasHead);
    QVERIFY(!chunks[3][0].hasEmbedding && !chunks[3][1].hasHead);
    QCOMPARE(
        chunks[3][0].firstLayer + chunks[3][0].layers, chunks[3][1].firstLayer); // the turn stays on the last device
    QCOMPARE(chunks[0][1].firstLayer + chunks[0][1].layers, 22);
    QCOMPARE(chunks[0][0].layers + chunks[0][1].layers, 4);
    QCOMPARE(chunks[1][0].layers + chunks[1][1].layers, 6);
}

void TestPlace::aPlanMayGiveTheLayersOfItsStages()
{
    ModelSpec model;
    model.layers = 32;
    const auto chunks = splitLayers(model, 4, 1, ChunkPlacement::Loop, { 6, 9, 9, 8 });
    QCOMPARE(chunks[0][0].layers, 6);
    QCOMPARE(chunks[3][0].firstLayer, 24);
    const auto halves =
        splitLayers(model, 4, 2, ChunkPlacement::Loop, { 6, 9, 9, 8 }); // a stage's layers among its chunks
    QCOMPARE(halves[1][0].layers + halves[1][1].layers, 9);
    QCOMPARE(halves[3][1].firstLayer + halves[3][1].layers, 32);
}

TRAINYARD_APPLESS_TEST(TestPlace)
#include "tst_place.moc"
