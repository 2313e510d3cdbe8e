// SPDX-License-Identifier: GPL-3.0-or-later
// Layers of stages on unequal GPUs: the shortest longest stage there is, within what memory holds.
#include "core/iteration/layouts/layers_by_speed.h"
#include "tests/support/mixed_plans.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <functional>
#include <limits>
#include <numeric>
#include <random>

using namespace trainyard;
using namespace trainyard::test;

namespace {

std::vector<int> layersOf(const Evaluation &evaluation)
{
    std::vector<int> layers;
    for (const auto &stage : evaluation.layout.chunks)
        layers.push_back(std::accumulate(
            stage.begin(), stage.end(), 0, [](int sum, const StageChunk &chunk) { return sum + chunk.layers; }));
    return layers;
}

Plan bySpeed(Plan plan)
{
    plan.heterogeneity.layers = LayerSharing::BySpeed;
    return plan;
}

} // namespace

class TestLayersBySpeed : public QObject {
    Q_OBJECT

private slots:
    // min over cuts of max over stages of seconds(stage, first, layers), stages of unequal layers and limits.
    void noCutHasAShorterLongestStage()
    {
        std::mt19937 random(3);
        const auto draw = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
        for (int i = 0; i < 200; ++i) {
            const int stages = draw(2, 4), layers = stages + draw(0, 7);
            std::vector<double> pace, ends, weight;
            std::vector<int> most;
            for (int s = 0; s < stages; ++s) {
                pace.push_back(draw(1, 9));
                ends.push_back(draw(0, 5));
                most.push_back(draw(layers / stages, layers));
            }
            for (int l = 0; l < layers; ++l)
                weight.push_back(draw(1, 3));
            const SecondsOfCut seconds = [&](int stage, int first, int count) {
                const auto at = std::size_t(stage);
                if (count > most[at])
                    return std::numeric_limits<double>::infinity();
                return ends[at]
                    + pace[at] * std::accumulate(weight.begin() + first, weight.begin() + first + count, 0.0);
            };
            double least = std::numeric_limits<double>::infinity();
            const std::function<void(int, int, double)> cut = [&](int stage, int first, double longest) {
                if (stage == stages) {
                    least = first == layers ? std::min(least, longest) : least;
                    return;
                }
                for (int count = 1; first + count <= layers; ++count)
                    cut(stage + 1, first + count, std::max(longest, seconds(stage, first, count)));
            };
            cut(0, 0, 0);
            const std::vector<int> found = cutLayers(stages, layers, 1, seconds);
            if (least == std::numeric_limits<double>::infinity()) {
                QVERIFY(found.empty());
                continue;
            }
            QCOMPARE(std::accumulate(found.begin(), found.end(), 0), layers);
            double longest = 0;
            for (int s = 0, first = 0; s < stages; first += found[std::size_t(s++)])
                longest = std::max(longest, seconds(s, first, found[std::size_t(s)]));
            QCOMPARE(longest, least);
        }
    }

    // Equal stages without ends: 10 layers on 4 stages are 3 and 2.
    void equalStagesAreCutAsEvenlyAsCanBe()
    {
        std::vector<int> cut = cutLayers(4, 10, 1, [](int, int, int layers) { return double(layers); });
        std::ranges::sort(cut);
        QCOMPARE(cut, (std::vector<int> { 2, 2, 3, 3 }));
    }

    void fasterStagesGetMoreLayersAndTheIterationIsShorter()
    {
        const auto even = evaluated(mixedStages()), dealt = evaluated(bySpeed(mixedStages()));
        const std::vector<int> layers = layersOf(*dealt);
        QCOMPARE(layers[0] + layers[1], even->model.layers);
        QVERIFY(layers[0] > layers[1]);
        QVERIFY(*dealt->metrics.iterationTime < *even->metrics.iterationTime);
    }

    void layersThatThePlanGivesStay()
    {
        Plan plan = bySpeed(mixedStages());
        plan.placement.layers = { 5, 19 };
        QCOMPARE(layersOf(*evaluated(plan)), (std::vector<int> { 5, 19 }));
    }

    // 24 layers of a stage's chunks as splitLayers deals given ones: two chunks differ by one layer at most.
    void severalChunksShareTheirStagesLayers()
    {
        Plan plan = bySpeed(mixedStages());
        plan.schedule = ScheduleKind::Interleaved;
        plan.parallelism.virtualPipeline = 2;
        const auto dealt = evaluated(plan);
        QVERIFY(dealt->feasible());
        const std::vector<int> layers = layersOf(*dealt);
        QCOMPARE(layers[0] + layers[1], dealt->model.layers);
        QVERIFY(layers[0] > layers[1]);
        for (const auto &stage : dealt->layout.chunks)
            QVERIFY(std::abs(stage[0].layers - stage[1].layers) <= 1);
    }

    // Few micro-batches and a slow fabric: what a stage reduces at the end counts as much as what it computes.
    void layersBySpeedAreNeverSlowerThanEvenOnes()
    {
        int faster = 0;
        for (const int batch : { 4, 8, 32 })
            for (const double gbps : { 5.0, 50.0, 400.0 })
                for (const int zeroStage : { 0, 1, 2 })
                    for (const bool slowFirst : { false, true }) {
                        Plan plan = mixedStages();
                        plan.workload.globalBatch = batch;
                        plan.parallelism.zeroStage = zeroStage;
                        Datacenter &datacenter = plan.cluster.datacenters.front();
                        datacenter.fabricGbpsPerGpu = gbps;
                        if (slowFirst)
                            std::swap(datacenter.pools[0], datacenter.pools[1]);
                        const double even = *evaluated(plan)->metrics.iterationTime,
                                     dealt = *evaluated(bySpeed(plan))->metrics.iterationTime;
                        QVERIFY2(dealt <= even * (1 + 1e-9),
                            qPrintable(QStringLiteral("%1 %2 %3 %4: %5 s, even %6 s")
                                           .arg(batch)
                                           .arg(gbps)
                                           .arg(zeroStage)
                                           .arg(slowFirst)
                                           .arg(dealt)
                                           .arg(even)));
                        faster += dealt < even * 0.999;
                    }
        QVERIFY(faster > 10);
    }

    // A fast GPU of little memory takes no more layers than fit.
    void memoryBoundsWhatAFastStageGets()
    {
        Plan plan = bySpeed(mixedStages());
        plan.workload.model = "llama-3-8b";
        plan.workload.sequenceLength = 2048;
        plan.parallelism.zeroStage = 1;
        auto &pools = plan.cluster.datacenters.front().pools;
        const auto free = evaluated(plan);
        GpuSpec small = *builtinCatalogue().gpu("h100-sxm-80gb");
        small.memoryBytes = free->metrics.memory->perStage[0].device - 1; // one layer too many
        pools[0].inlineGpu = small;
        pools[0].gpu.clear();
        const auto bound = evaluated(plan);
        QVERIFY(layersOf(*bound)[0] < layersOf(*free)[0]);
        QVERIFY(bound->metrics.memory->perStage[0].fits());
    }
};

TRAINYARD_APPLESS_TEST(TestLayersBySpeed)
#include "tst_layers_by_speed.moc"
