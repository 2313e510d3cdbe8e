// SPDX-License-Identifier: GPL-3.0-or-later
// Layers of experts in whole plans: what their exchanges add to an iteration and what hides it. Expected values come
// from the equations of docs/experts.md, from collectives timed alone, and from plans that must not differ.
#include "core/engine/schedule/traits.h"
#include "core/evaluation/evaluate/expert_layer.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QTest>

#include "tests/support/plans.h"

#include <limits>
#include <numeric>
#include <random>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Mixtral 8x7B on nodes of eight H100: experts over `expert` ranks.
Plan mixtral(int nodes, int tensor, int expert)
{
    Plan plan = oneSite(nodes, 1);
    plan.workload.model = "mixtral-8x7b";
    plan.workload.sequenceLength = 4096;
    plan.workload.globalBatch = 64;
    plan.parallelism.tensor = tensor;
    plan.parallelism.expert = expert;
    plan.parallelism.zeroStage = 3;
    return plan;
}

ExpertLayer opened(const Plan &plan)
{
    auto layer = expertLayer(*evaluated(plan), builtinCatalogue());
    if (!layer || !*layer)
        qFatal("the plan has no expert layer");
    return **layer;
}

ExpertMetrics metricsOf(const Plan &plan)
{
    const EvaluationPtr evaluation = evaluated(plan);
    if (!evaluation->metrics.experts)
        qFatal("the plan has no figures of experts");
    return *evaluation->metrics.experts;
}

double seconds(const Plan &plan)
{
    return *evaluated(plan)->metrics.iterationTime;
}

/// Which tensor groups hold the same tokens: DeepSpeed's way.
Plan unsplit(Plan plan)
{
    plan.parallelism.sequenceParallel = false;
    return plan;
}

class TestExpertLayers : public QObject {
    Q_OBJECT

private slots:
    /// Room for the mean, the fullest of eight with twice that and (8 - 2) / 7 left to each other: kept are
    /// (1 + 7 x 6/7) / 8 = 7/8 of the visits. FLOPs go with them in a line: F(1) - F(7/8) = (F(1) - F(1/2)) / 4.
    void visitsThatUnevenLoadsDropAreNotWorkDone()
    {
        const auto flops = [](double room, double imbalance) {
            Plan plan = mixtral(1, 1, 8);
            plan.moe.capacityFactor = room;
            plan.moe.dropless = false;
            plan.moe.imbalance = imbalance;
            const EvaluationPtr evaluation = evaluated(plan);
            return *evaluation->metrics.modelTflopsPerGpu * *evaluation->metrics.iterationTime;
        };
        const double all = flops(1, 1), uneven = flops(1, 2), half = flops(0.5, 1);
        QVERIFY2(std::abs((all - uneven) / ((all - half) / 4) - 1) < 1e-9, qPrintable(QString::number(uneven / all)));
    }

    /// Two layers that predict further tokens beside 32 like them: 34/32 of the bytes.
    void layersThatPredictFurtherTokensSendThemToo()
    {
        Plan plan = mixtral(1, 1, 8);
        plan.workload.inlineModel = *builtinCatalogue().model("mixtral-8x7b");
        plan.workload.model.clear();
        for (const Recompute recompute : { Recompute::None, Recompute::Full }) {
            plan.memory.recompute = recompute;
            plan.workload.inlineModel->mtpLayers = 0;
            const double without = metricsOf(plan).wireBytes;
            plan.workload.inlineModel->mtpLayers = 2;
            QVERIFY(std::abs(metricsOf(plan).wireBytes / without - 34.0 / 32) < 1e-9);
        }
    }

    void aFlatExchangeShowsAsLongAsTwoAllToAlls()
    {
        // Nothing overlaps: exposed = dispatch + combine, each an all-to-all of T h k bytes, and forward the host's
        // wait for where tokens go.
        const ExpertLayer layer = opened(mixtral(2, 1, 8));
        const ExchangeRequest &request = layer.request;
        const RankGroup group { request.group.ranks, request.group.together, request.group.inside,
            request.group.between };
        const Seconds one = allToAllTime(
            Bytes { request.tokens.tokens * request.tokens.dispatchBytes * request.tokens.choices }, group);
        constexpr double kTicks = 4e-9; // a graph counts whole nanoseconds
        const double waits = layer.forward.hostWait.value;
        QVERIFY(waits > 0);
        QVERIFY(std::abs(layer.forwardTimes.exposed.value - 2 * one.value - waits) < kTicks);
        QVERIFY(std::abs(layer.backwardTimes.exposed.value - 2 * one.value) < kTicks);
        QCOMPARE(layer.forwardTimes.total.value, layer.forwardTimes.computing.value + layer.forwardTimes.exposed.value);
    }

    void expertsInsideANodeCostNoNicByte()
    {
        const ExpertMetrics inside = metricsOf(mixtral(4, 1, 8)), across = metricsOf(mixtral(4, 2, 8));
        QCOMPARE(inside.nicBytes, 0.0);
        QVERIFY(inside.wireBytes > 0);
        Plan far = mixtral(4, 1, 8);
        far.cluster.datacenters.front().pools.front().gpusPerNode = 4;
        far.cluster.datacenters.front().pools.front().nodes = 8;
        QVERIFY(metricsOf(far).nicBytes > 0);
        QCOMPARE(across.wanBytes, 0.0);
    }

    void imbalanceReachesExchangesAndProducts()
    {
        // Of the fullest rank: products grow with its load, and an all-to-all waits for what it receives.
        Plan plan = mixtral(2, 1, 8);
        const ExpertLayer even = opened(plan);
        plan.moe.imbalance = 4;
        const ExpertLayer skewed = opened(plan);
        QVERIFY(skewed.forward.fullest.products > even.forward.fullest.products * 2.0);
        QVERIFY(skewed.forwardTimes.dispatch > even.forwardTimes.dispatch);
        QCOMPARE(skewed.loads.skew, 4.0);
    }

    void equalLoadsAreABalancedLayer()
    {
        Plan plan = mixtral(2, 1, 8);
        const double even = seconds(plan);
        plan.moe.imbalance = 3; // not read where loads are given
        plan.moe.expertLoads.assign(8, 0.7);
        QCOMPARE(seconds(plan), even);
    }

    void theOrderOfTheExpertsChangesNothing()
    {
        // One expert a rank: whichever is the full one, the layer waits for it.
        Plan plan = mixtral(2, 1, 8);
        plan.moe.expertLoads = { 1, 2, 3, 4, 5, 6, 7, 8 };
        const double one = seconds(plan);
        QVERIFY(one > seconds(mixtral(2, 1, 8)));
        std::mt19937 random(3);
        for (int i = 0; i < 10; ++i) {
            std::ranges::shuffle(plan.moe.expertLoads, random);
            QCOMPARE(seconds(plan), one);
        }
    }

    void trafficAwareIsNeverSlowerThanFlatOnAnySample()
    {
        int found = 0;
        for (const QFileInfo &file : QDir(TRAINYARD_SOURCE_DIR "/samples").entryInfoList({ "*.trainyard.json" })) {
            auto plan = readPlan(file.filePath().toStdString());
            QVERIFY(plan);
            plan->moe.dispatch = MoeDispatch::Flat;
            const EvaluationPtr flat = evaluated(*plan);
            plan->moe.dispatch = MoeDispatch::TrafficAware;
            const EvaluationPtr aware = evaluated(*plan);
            found += flat->metrics.experts.has_value();
            if (!flat->metrics.iterationTime)
                continue;
            QVERIFY2(*aware->metrics.iterationTime <= *flat->metrics.iterationTime, qPrintable(file.fileName()));
        }
        QVERIFY2(found > 0 || !QFile::exists(TRAINYARD_SOURCE_DIR "/samples/moe-2x70b-16-a800.trainyard.json"),
            "no sample has experts");
    }

    void trafficAwareIsNeverSlowerThanFlatOnRandomPlans()
    {
        int sliced = 0;
        for (unsigned seed = 0; seed < 500; ++seed) {
            std::mt19937 random(seed);
            const auto one = [&](std::initializer_list<int> of) {
                return *(of.begin() + std::uniform_int_distribution<int>(0, int(of.size()) - 1)(random));
            };
            Plan plan = mixtral(one({ 4, 8 }), one({ 1, 2, 4, 8 }), one({ 2, 4, 8 }));
            plan.parallelism.sequenceParallel = one({ 0, 0, 1 }) == 1;
            plan.parallelism.pipeline = one({ 1, 2, 4 });
            plan.parallelism.expertTensor = one({ 1, plan.parallelism.tensor });
            plan.parallelism.zeroStage = plan.parallelism.pipeline > 1 ? 1 : 3;
            plan.schedule =
                plan.parallelism.pipeline > 1 && one({ 0, 1 }) ? ScheduleKind::ZbH1 : ScheduleKind::OneFOneB;
            plan.workload.sequenceLength = one({ 1024, 4096, 16384 });
            plan.cluster.datacenters.front().fabricGbpsPerGpu = one({ 50, 100, 400 });
            plan.moe.pipelineBackward = one({ 0, 1 }) == 1;
            plan.memory.recompute = static_cast<Recompute>(one({ 0, 1, 2 }));
            const auto flat = evaluated(plan);
            plan.moe.dispatch = MoeDispatch::TrafficAware;
            const auto aware = evaluated(plan);
            if (!flat->metrics.iterationTime || !flat->metrics.experts)
                continue;
            const QByteArray name = "seed " + QByteArray::number(seed);
            QVERIFY2(*aware->metrics.iterationTime <= *flat->metrics.iterationTime * (1 + 1e-12), name);
            if (aware->layout.data == flat->layout.data) // else the layers are of other groups
                QVERIFY2(aware->metrics.experts->layerMs <= flat->metrics.experts->layerMs * (1 + 1e-12), name);
            sliced += aware->metrics.experts->chosen == MoeDispatch::TensorSliced;
        }
        QVERIFY2(sliced > 50, qPrintable(QString::number(sliced)));
    }

    void slicesAreJudgedByTheRowsThatTheyLeave()
    {
        // Whole experts compute of slices 1 / TP of the rows: traffic-aware is no slower than slices or flat as asked,
        // and faster NICs make it no slower.
        auto plan = readPlan(TRAINYARD_SOURCE_DIR "/samples/moe-2x70b-16-a800.trainyard.json");
        QVERIFY(plan);
        plan->parallelism.expertTensor = 1;
        double before = std::numeric_limits<double>::infinity();
        for (const double gbps : { 200, 1000, 1200, 1600 }) {
            for (Datacenter &datacenter : plan->cluster.datacenters)
                datacenter.fabricGbpsPerGpu = gbps;
            plan->moe.dispatch = MoeDispatch::TrafficAware;
            const double aware = seconds(*plan);
            QVERIFY2(aware <= before, qPrintable(QString::number(gbps)));
            before = aware;
            for (const MoeDispatch dispatch : { MoeDispatch::Flat, MoeDispatch::TensorSliced }) {
                plan->moe.dispatch = dispatch;
                QVERIFY2(aware <= seconds(*plan) * (1 + 1e-12), qPrintable(QString::number(gbps)));
            }
        }
    }

    void piecesAskedForAreThoseOfFlatToo()
    {
        // What flat hides under products in the pieces asked for, traffic-aware hides as well, split tokens or not: in
        // the layer, by which it is chosen. An iteration may differ by what else hides behind the products of pieces.
        int inPieces = 0;
        for (const bool isSplit : { true, false }) {
            for (const int pieces : { 2, 4 }) {
                for (const double gbps : { 100, 400 }) {
                    Plan plan = mixtral(4, 2, 8);
                    plan.parallelism.sequenceParallel = isSplit;
                    plan.parallelism.expertTensor = 2;
                    plan.cluster.datacenters.front().fabricGbpsPerGpu = gbps;
                    plan.moe.overlapChunks = pieces;
                    const auto time = [](const ExpertLayer &of) {
                        return of.forwardTimes.total + of.backwardTimes.total;
                    };
                    const Seconds flat = time(opened(plan));
                    const double iteration = seconds(plan);
                    plan.moe.dispatch = MoeDispatch::TrafficAware;
                    QVERIFY(time(opened(plan)) <= flat);
                    QVERIFY(seconds(plan) <= iteration * 1.01);
                    const ExpertLayer layer = opened(plan);
                    inPieces += layer.choice.dispatch == MoeDispatch::Flat && layer.choice.forwardPieces > 1
                        && layer.forward.productsInPieces;
                }
            }
        }
        QVERIFY(inPieces > 0);
    }

    void aSliceSendsItsPartOfTheBytes()
    {
        // All of a tensor group of t hold the same tokens: slices send 1 / t of the bytes over the NICs.
        Plan plan = unsplit(mixtral(2, 8, 2));
        plan.parallelism.expertTensor = 8;
        const double flat = metricsOf(plan).nicBytes;
        plan.moe.dispatch = MoeDispatch::TensorSliced;
        QVERIFY(std::abs(flat / metricsOf(plan).nicBytes - 8) < 1e-9);
    }

    void aMaskedProductGrowsWithTheSquareOfTheSequence()
    {
        // sec,sm->ecm: 2 S (c k S) h FLOPs, there and back.
        const auto permute = [](int sequence, MoeBaseline baseline) {
            Plan plan = mixtral(8, 1, 8);
            plan.workload.sequenceLength = sequence;
            plan.workload.globalBatch = 64;
            plan.moe.baseline = baseline;
            return opened(plan).forward.fullest.permute.value;
        };
        const double growth = permute(16384, MoeBaseline::Einsum) / permute(8192, MoeBaseline::Einsum);
        QVERIFY2(growth > 3.5 && growth < 4.2, qPrintable(QString::number(growth)));
        const double fused = permute(16384, MoeBaseline::Fused) / permute(8192, MoeBaseline::Fused);
        QVERIFY2(fused < 2.2, qPrintable(QString::number(fused)));
    }

    void forwardsBesideBackwardsHideExchanges()
    {
        Plan plan = mixtral(2, 1, 8);
        plan.cluster.datacenters.front().pools.front().gpusPerNode = 1; // every rank in a node of its own
        plan.cluster.datacenters.front().pools.front().nodes = 16;
        const EvaluationPtr apart = evaluated(plan);
        plan.moe.expertOverlap = ExpertOverlap::OneFOneB;
        const EvaluationPtr paired = evaluated(plan);
        QVERIFY(*paired->metrics.iterationTime < *apart->metrics.iterationTime);
        QVERIFY(paired->metrics.breakdown->expertParallel < apart->metrics.breakdown->expertParallel);
        QVERIFY(std::ranges::count(paired->timeline.kind, WorkKind::ForwardBackward) > 0);
        // Kernels take as long together as one after the other.
        QVERIFY(std::abs(paired->metrics.breakdown->compute / apart->metrics.breakdown->compute - 1) < 1e-3);
    }

    void sharedExpertsComputeWhileTokensTravel()
    {
        Plan plan = mixtral(2, 1, 8);
        plan.workload.model = "deepseek-v2-lite";
        const double after = seconds(plan);
        plan.moe.sharedExpertOverlap = true;
        QVERIFY(seconds(plan) < after);
        plan.workload.model = "mixtral-8x7b"; // which has none
        const double none = seconds(plan);
        plan.moe.sharedExpertOverlap = false;
        QCOMPARE(seconds(plan), none);
    }

    void moreBandwidthBetweenNodesIsNotSlower()
    {
        Plan plan = mixtral(2, 1, 8);
        plan.cluster.datacenters.front().pools.front().gpusPerNode = 2;
        plan.cluster.datacenters.front().pools.front().nodes = 8;
        for (const MoeDispatch dispatch : { MoeDispatch::Flat, MoeDispatch::RankDedup, MoeDispatch::Dedup,
                 MoeDispatch::Hierarchical, MoeDispatch::AllGather }) {
            plan.moe.dispatch = dispatch;
            double before = 1e30;
            for (const double gbps : { 50, 100, 200, 400, 800 }) {
                plan.cluster.datacenters.front().fabricGbpsPerGpu = gbps;
                const double now = seconds(plan);
                QVERIFY(now <= before);
                before = now;
            }
        }
    }

    void prefillFindsWindowsAndMovesNoSpan()
    {
        Plan plan = mixtral(4, 1, 8);
        plan.parallelism.pipeline = 4;
        plan.parallelism.zeroStage = 1;
        plan.parallelism.tensor = 2;
        plan.parallelism.expert = 4;
        const EvaluationPtr alone = evaluated(plan);
        plan.bubbleFill.enabled = true;
        plan.bubbleFill.model = "llama-3-8b";
        plan.bubbleFill.requestsPerSecond = 5;
        const EvaluationPtr filled = evaluated(plan);
        QCOMPARE(*filled->metrics.iterationTime, *alone->metrics.iterationTime);
        const auto spans = [](const Timeline &timeline) {
            std::vector<std::pair<Nanoseconds, Nanoseconds>> of;
            for (const Track &track : timeline.tracks)
                for (std::uint32_t s = track.first; track.stream != Stream::Prefill && s < track.last; ++s)
                    of.emplace_back(timeline.start[s], timeline.end[s]);
            return of;
        };
        QCOMPARE(spans(filled->timeline), spans(alone->timeline));
    }
};

} // namespace

TRAINYARD_GUILESS_TEST(TestExpertLayers)
#include "tst_expert_layers.moc"
