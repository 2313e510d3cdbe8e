// SPDX-License-Identifier: GPL-3.0-or-later
// What a layer, the embedding and the head cost, against the equations of docs/model.md "Layers" and trends that hold
// for any GPU.
#include "core/iteration/cost/layer/layer_cost.h"
#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/layouts/placements.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"
#include "tests/support/workloads.h"

#include <QtTest>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// One GPU computes, without a stack's habits.
Plan bare()
{
    Plan plan = oneSite(1, 1);
    plan.parallelism.tensor = 1;
    plan.stack.name = "ideal"; // which hides what it can: shown here
    plan.stack.overrides = { { "tensor_overlap", 0 }, { "gradient_overlap", 0 }, { "parameter_overlap", 0 },
        { "pipeline_overlap", 0 } };
    return plan;
}

struct Costed {
    Workload work;
    LayerSite site;
    ChunkCost layer, head;
};

Costed costed(Plan plan)
{
    Costed result { test::placedWorkload(std::move(plan)), {}, {}, {} };
    result.site = layerSite(result.work, rankSet(result.work, result.work.layout.classes.front(), 0));
    result.layer = layerCost(result.work, result.site, false);
    result.head = headCost(result.work, result.site);
    return result;
}

double seconds(const OpSplit &split)
{
    return split.total().value;
}

Plan with(Plan plan, const char *habit, double value)
{
    plan.stack.overrides[habit] = value;
    return plan;
}

} // namespace

class TestLayerCost : public QObject {
    Q_OBJECT

private slots:
    void aBackwardTakesAboutTwoForwards();
    void aLayerTakesNoLessThanItsLaunches();
    void graphsHideTheLaunches();
    void everyMicroBatchMovesItsGradients();
    void slowerKernelsSlowOnlyProductsAndAttention();
    void thirtyTwoBitTensorsMoveTwiceTheBytes();
    void castsComeWithEightBitProductsOnly();
    void fullRecomputationIsTheForwardAgain();
    void operatorLevelRecomputationIsLessThanTheForward();
    void tensorRanksShareTheProductsAndTalk();
    void overlapHidesTrafficAndSlowsCompute();
    void balancedContextRanksWaitForNoLongestRow();
    void shardedLayersShowWhatComputeCannotHide();
    void theLastBucketHidesBehindNothing();
    void replicasOfExpertsTalkOverTheFabric();
    void eightBitsOnAChipWithoutThemAreNoFaster();
    void recomputationFindsShardedWeightsGathered();
    void aBoundaryBetweenNodesUsesTheFabric();
    void tcpBetweenNodesTakesLonger();
    void largeMessagesReachTheMeasuredRateOfTheFabric();
    void expertTensorRanksTalk();
};

void TestLayerCost::aBackwardTakesAboutTwoForwards()
{
    // Products: two for one. Fused attention: five products for two, at a lower rate.
    const Costed c = costed(bare());
    const double ratio = (seconds(c.layer.inputGrad) + seconds(c.layer.weightGrad)) / seconds(c.layer.forward);
    QVERIFY2(ratio > 1.9 && ratio < 2.6, qPrintable(QString::number(ratio)));
    QCOMPARE(seconds(c.layer.recompute), 0.0);
}

void TestLayerCost::aLayerTakesNoLessThanItsLaunches()
{
    // time = (gpu^4 + host^4)^(1/4) with host = launches x host_us: at least either, and linear in host where that
    // rules.
    Plan small = bare();
    small.workload.sequenceLength = 128;
    const double free = seconds(costed(small).layer.forward);
    const double slow = seconds(costed(with(small, "host_us_per_kernel", 1000)).layer.forward);
    const double twice = seconds(costed(with(small, "host_us_per_kernel", 2000)).layer.forward);
    // `ideal` captures graphs, so the option has to be off for the host to show.
    QCOMPARE(slow, free);
    small.stack.overrides["cuda_graphs"] = 0;
    const double hostBound = seconds(costed(with(small, "host_us_per_kernel", 1000)).layer.forward);
    const double hostBoundTwice = seconds(costed(with(small, "host_us_per_kernel", 2000)).layer.forward);
    QCOMPARE(twice, free);
    QVERIFY(hostBound > 0.010); // more than ten launches of a millisecond
    QVERIFY(std::abs(hostBoundTwice / hostBound - 2) < 1e-3);
    // A large layer does not notice a fast host.
    Plan large = with(bare(), "cuda_graphs", 0);
    const double alone = seconds(costed(large).layer.forward);
    QVERIFY(seconds(costed(with(large, "host_us_per_kernel", 10)).layer.forward) < 1.001 * alone);
}

void TestLayerCost::graphsHideTheLaunches()
{
    Plan plan = with(bare(), "host_us_per_kernel", 500);
    plan.workload.sequenceLength = 256;
    QVERIFY(seconds(costed(plan).layer.forward) < 0.5 * seconds(costed(with(plan, "cuda_graphs", 0)).layer.forward));
}

void TestLayerCost::everyMicroBatchMovesItsGradients()
{
    // accumulation_bytes x parameters / memory rate, in the weight gradient alone: linear in the bytes.
    const Costed none = costed(bare()), eight = costed(with(bare(), "accumulation_bytes", 8)),
                 sixteen = costed(with(bare(), "accumulation_bytes", 16));
    const double once = seconds(eight.layer.weightGrad) - seconds(none.layer.weightGrad);
    QVERIFY(once > 0);
    QVERIFY(std::abs((seconds(sixteen.layer.weightGrad) - seconds(none.layer.weightGrad)) / once - 2) < 1e-6);
    QCOMPARE(seconds(eight.layer.forward), seconds(none.layer.forward));
    // Llama 3 8B: 218 million parameters a layer over 3.35 TB/s, at most all of it used.
    QVERIFY(once > 8 * 218e6 / 3.35e12 && once < 2 * 8 * 218e6 / 3.35e12);
}

void TestLayerCost::slowerKernelsSlowOnlyProductsAndAttention()
{
    const double whole = seconds(costed(bare()).layer.forward);
    const double slower = seconds(costed(with(bare(), "kernel_efficiency", 0.5)).layer.forward);
    QVERIFY(slower > 1.5 * whole && slower < 2 * whole);
}

void TestLayerCost::thirtyTwoBitTensorsMoveTwiceTheBytes()
{
    // Of the boundary, and of tensor-parallel traffic.
    Plan plan = with(oneSite(1, 1), "tensor_overlap", 0);
    plan.stack.name = "ideal";
    plan.workload.precision = Precision::Bf16;
    const Costed half = costed(plan);
    plan.workload.precision = Precision::Tf32;
    const Costed full = costed(plan);
    QCOMPARE(full.work.boundaryBytes(false), 2 * half.work.boundaryBytes(false));
    QVERIFY(full.layer.forward.tensor.value > 1.7 * half.layer.forward.tensor.value);
}

void TestLayerCost::castsComeWithEightBitProductsOnly()
{
    Plan plan = bare();
    const double sixteen = seconds(costed(plan).layer.forward);
    QCOMPARE(seconds(costed(with(plan, "cast_passes", 2)).layer.forward), sixteen);
    plan.workload.precision = Precision::Fp8;
    const double eight = seconds(costed(plan).layer.forward);
    QVERIFY(eight < sixteen);
    QVERIFY(seconds(costed(with(plan, "cast_passes", 2)).layer.forward) > eight);
    // Scales by row have passes of their own.
    const Plan rowwise = with(with(plan, "float8_rowwise", 1), "rowwise_cast_passes", 2);
    QVERIFY(seconds(costed(rowwise).layer.forward) > eight);
}

void TestLayerCost::fullRecomputationIsTheForwardAgain()
{
    Plan plan = bare();
    plan.memory.recompute = Recompute::Full;
    const Costed c = costed(plan);
    QCOMPARE(seconds(c.layer.recompute), seconds(c.layer.forward));
    QCOMPARE(seconds(c.head.recompute), 0.0);
}

void TestLayerCost::operatorLevelRecomputationIsLessThanTheForward()
{
    Plan plan = bare();
    plan.memory.recompute = Recompute::Selective;
    QCOMPARE(seconds(costed(plan).layer.recompute), 0.0); // fused attention has nothing to select
    const Costed c = costed(with(plan, "operator_level_selective", 1));
    QVERIFY(seconds(c.layer.recompute) > 0.2 * seconds(c.layer.forward));
    QVERIFY(seconds(c.layer.recompute) < 0.8 * seconds(c.layer.forward));
}

void TestLayerCost::tensorRanksShareTheProductsAndTalk()
{
    Plan plan = bare();
    const Costed alone = costed(plan);
    plan.parallelism.tensor = 8;
    const Costed shared = costed(plan);
    QCOMPARE(alone.layer.forward.tensor.value, 0.0);
    QVERIFY(shared.layer.forward.tensor.value > 0);
    QVERIFY(shared.layer.forward.compute.value > alone.layer.forward.compute.value / 8.001);
    QVERIFY(shared.layer.forward.compute.value < alone.layer.forward.compute.value / 4);
}

void TestLayerCost::overlapHidesTrafficAndSlowsCompute()
{
    Plan plan = bare();
    plan.parallelism.tensor = 8;
    const Costed open = costed(plan), hidden = costed(with(plan, "tensor_overlap", 0.5)),
                 slowed = costed(with(with(plan, "tensor_overlap", 0.5), "overlap_slowdown", 0.2));
    QVERIFY(std::abs(hidden.layer.forward.tensor.value / open.layer.forward.tensor.value - 0.5) < 1e-9);
    QCOMPARE(hidden.layer.forward.compute.value, open.layer.forward.compute.value);
    // Half of the traffic runs beside compute, which loses a fifth of that time.
    const double lost = slowed.layer.forward.compute.value - open.layer.forward.compute.value;
    QVERIFY(std::abs(lost / (0.5 * 0.2 * open.layer.forward.tensor.value) - 1) < 1e-9);
}

void TestLayerCost::balancedContextRanksWaitForNoLongestRow()
{
    // Of c ranks in an unbalanced ring the last has (2c - 1)/c of the mean score count: 1.75 times for four.
    Plan plan = bare();
    plan.workload.sequenceLength = 131072;
    plan.parallelism.context = 4;
    plan.parallelism.data = 1;
    const double balanced = seconds(costed(plan).layer.forward);
    const double longest = seconds(costed(with(plan, "balanced_context", 0)).layer.forward);
    QVERIFY2(longest > 1.3 * balanced && longest < 1.76 * balanced, qPrintable(QString::number(longest / balanced)));
}

void TestLayerCost::shardedLayersShowWhatComputeCannotHide()
{
    Plan plan = bare();
    plan.workload.sequenceLength = 256; // far too short to hide a gather of half a gigabyte
    plan.cluster.datacenters = { site("a", 8) };
    plan.parallelism.zeroStage = 3;
    const Costed open = costed(plan), hidden = costed(with(plan, "parameter_overlap", 1));
    QVERIFY(open.layer.forward.data.value > hidden.layer.forward.data.value);
    QVERIFY(hidden.layer.forward.data.value > 0);
    QVERIFY(open.layer.inputGrad.data.value > 1.9 * open.layer.forward.data.value); // a gather and a scatter of 4 bytes
    plan.parallelism.zeroStage = 2; // scatters gradients, gathers nothing
    const Costed second = costed(plan);
    QCOMPARE(second.layer.forward.data.value, 0.0);
    QVERIFY(
        second.layer.inputGrad.data.value > 0 && second.layer.inputGrad.data.value < open.layer.inputGrad.data.value);
}

void TestLayerCost::theLastBucketHidesBehindNothing()
{
    // One bucket: nothing of the reduction hides. Many: all but one may.
    Plan plan = bare();
    plan.cluster.datacenters = { site("a", 8) };
    plan = with(plan, "gradient_overlap", 1);
    const auto early = [](const Plan &p) {
        const Costed c = costed(p);
        StageCoster coster(c.work);
        const SyncAndStepTimes syncAndStep = syncAndStepTimes(c.work, coster.stage(c.work.layout.classes.front(), 0));
        return double(syncAndStep.reduceEarly) / double(syncAndStep.reduce);
    };
    QCOMPARE(early(plan), 0.0);
    const double twenty = early(with(plan, "gradient_bucket", 4e8)), two = early(with(plan, "gradient_bucket", 4e9));
    QVERIFY2(std::abs(twenty - 0.95) < 0.01, qPrintable(QString::number(twenty)));
    QVERIFY2(std::abs(two - 0.5) < 0.01, qPrintable(QString::number(two)));
}

void TestLayerCost::replicasOfExpertsTalkOverTheFabric()
{
    // Experts over all 8 GPUs of a node: the replicas of each lie in other nodes, 8 ranks apart.
    Plan plan = bare();
    plan.workload.model = "mixtral-8x7b";
    plan.cluster.datacenters = { site("a", 8) };
    plan.parallelism.expert = 8;
    const Costed c = costed(plan);
    QCOMPARE(c.site.expertData.ranks, 8);
    QCOMPARE(c.site.expertData.ranksPerNode, 1);
    // Reduced in at least 4 bytes a parameter x 7/8 over one NIC.
    StageCoster coster(c.work);
    const StageParameters parameters = stageParameters(c.work, 0);
    const double fabric = 400e9 / 8;
    QVERIFY(coster.stage(c.work.layout.classes.front(), 0).reduce.value > parameters.experts * 4 * 7 / 8 / fabric);
}

void TestLayerCost::eightBitsOnAChipWithoutThemAreNoFaster()
{
    Plan plan = bare();
    plan.cluster.datacenters = { site("a", 1, "a100-sxm-80gb") };
    plan = with(with(plan, "kernel_efficiency", 0.8), "narrow_efficiency", 1);
    const double sixteen = seconds(costed(plan).layer.forward);
    for (const Precision narrow : { Precision::Fp8, Precision::Mxfp8, Precision::Nvfp4 }) {
        plan.workload.precision = narrow;
        QCOMPARE(seconds(costed(with(plan, "cast_passes", 3)).layer.forward), sixteen);
    }
}

void TestLayerCost::recomputationFindsShardedWeightsGathered()
{
    Plan plan = bare();
    plan.cluster.datacenters = { site("a", 8) };
    plan.parallelism.zeroStage = 3;
    plan.memory.recompute = Recompute::Full;
    const Costed c = costed(plan);
    QVERIFY(c.layer.forward.data.value > 0);
    QCOMPARE(c.layer.recompute.data.value, 0.0);
}

void TestLayerCost::aBoundaryBetweenNodesUsesTheFabric()
{
    // Four stages of four replicas on two nodes of eight: stages 1 and 2 sit in different nodes.
    Plan plan = oneSite(2, 4);
    plan.stack.name = "ideal";
    plan.parallelism.tensor = 1;
    plan.parallelism.data = 4;
    const auto time = [&](double fabricGbps) {
        Plan changed = plan;
        changed.cluster.datacenters.front().fabricGbpsPerGpu = fabricGbps;
        return *evaluated(changed)->metrics.iterationTime;
    };
    QVERIFY(time(10) > time(100));
    QVERIFY(time(100) > time(400));
    plan.cluster.datacenters = { site("a", 2, "gb200-186gb", 8) }; // one rack of NVLink: nothing leaves it
    QCOMPARE(time(10), time(400));
}

void TestLayerCost::tcpBetweenNodesTakesLonger()
{
    Plan plan = oneSite(2, 4);
    plan.stack.name = "ideal";
    plan.parallelism.tensor = 1;
    plan.parallelism.data = 4;
    const auto time = [](Plan changed, FabricKind fabric) {
        changed.cluster.datacenters.front().fabric = fabric;
        return *evaluated(changed)->metrics.iterationTime;
    };
    QVERIFY(time(plan, FabricKind::Tcp) > time(plan, FabricKind::Rdma));
    Plan sharded = bare(); // gradients and weights of 64 replicas
    sharded.cluster.datacenters = { site("a", 8) };
    sharded.parallelism.zeroStage = 3;
    QVERIFY(time(sharded, FabricKind::Tcp) > time(sharded, FabricKind::Rdma));
    plan.cluster.datacenters = { site("a", 2, "gb200-186gb", 8) }; // nothing leaves the rack
    QCOMPARE(time(plan, FabricKind::Tcp), time(plan, FabricKind::Rdma));
    // Two sites that differ by their fabric alone each have their own.
    Plan two = oneSite(8, 1);
    two.cluster.datacenters.push_back(site("b", 8));
    two.cluster.datacenters.back().fabric = FabricKind::Tcp;
    const Workload work = costed(two).work;
    QVERIFY(locationFabric(work, { 0, 0 }).kind == &builtinNetwork().fabric);
    QVERIFY(locationFabric(work, { 1, 0 }) == tcpLink(gbitsPerSecond(work.fabricGbps({ 1, 0 })), 8, builtinNetwork()));
}

void TestLayerCost::largeMessagesReachTheMeasuredRateOfTheFabric()
{
    // A ring of n nodes with one GPU each: start + (n - 1) steps + ramp, and (n - 1) / n * S / r.
    const int n = 8;
    const double size = 64e9, rate = 37e9;
    for (const FabricKind kind : { FabricKind::Rdma, FabricKind::Tcp }) {
        Plan plan = oneSite(n, 1);
        plan.parallelism.tensor = 1;
        plan.cluster.datacenters = { site("a", n, "h100-sxm-80gb", 1) };
        plan.cluster.datacenters.front().fabricGbpsPerGpu = 400;
        plan.cluster.datacenters.front().fabric = kind;
        const Link nominal = locationFabric(costed(plan).work, { 0, 0 });
        plan.cluster.datacenters.front().fabricMeasuredGBps = rate / 1e9;
        const Link measured = locationFabric(costed(plan).work, { 0, 0 });
        QVERIFY(measured.kind == nominal.kind);
        const auto ring = [&](double bytes) {
            return reduceScatterTime(Bytes { bytes }, { n, 1, {}, measured }).value;
        };
        const LinkClass &link = *measured.kind;
        const double volume = (n - 1.0) / n * size;
        const double latency =
            1e-6 * (link.startUs + (n - 1) * link.stepUs + link.rampUs * volume / (volume + link.rampBytes));
        QVERIFY(std::abs(ring(size) / (volume / rate + latency) - 1) < 1e-12);
        // An empty message takes what it took: the measured rate moves no latency.
        QCOMPARE(ring(0), reduceScatterTime(Bytes { 0 }, { n, 1, {}, nominal }).value);
    }
    // In a datacenter of unequal NICs, no pool gets more than its own carry: an A100's share is 25 GB/s.
    Plan plan = oneSite(1, 1);
    plan.parallelism.tensor = 1;
    plan.cluster.datacenters = { site("a", 1, "h100-sxm-80gb", 8) };
    plan.cluster.datacenters.front().pools.push_back({ .id = "slow", .gpu = "a100-sxm-80gb", .nodes = 1 });
    plan.cluster.datacenters.front().fabricMeasuredGBps = rate / 1e9;
    const Workload work = costed(plan).work;
    const double slow = builtinCatalogue().gpu("a100-sxm-80gb")->fabricGbps / 8 * 1e9;
    QVERIFY(slow < rate);
    for (const auto &[location, most] :
        { std::pair { StageLocation { 0, 0 }, rate }, std::pair { StageLocation { 0, 1 }, slow } })
        QVERIFY(std::abs(locationFabric(work, location).bandwidth.value * locationFabric(work, location).kind->fraction
                        / most
                    - 1)
            < 1e-12);
}

void TestLayerCost::expertTensorRanksTalk()
{
    Plan plan = bare();
    plan.workload.model = "mixtral-8x7b";
    plan.parallelism.tensor = 4;
    auto costOf = [](const Plan &p) {
        const Costed c = costed(p);
        return layerCost(c.work, c.site, true).forward.expert.value;
    };
    QCOMPARE(costOf(plan), 0.0);
    plan.parallelism.expertTensor = 4;
    QVERIFY(costOf(plan) > 0);
}

TRAINYARD_APPLESS_TEST(TestLayerCost)
#include "tst_layer_cost.moc"
