// SPDX-License-Identifier: GPL-3.0-or-later
// What slows a layer beyond its FLOPs: shapes off the tensor cores' grid, launches that wait, plain tensor operations,
// gathered keys and values; and what a mask at the borders of documents saves.
#include "core/facts/network/collectives.h"
#include "core/iteration/cost/kernels/attention.h"
#include "core/iteration/cost/kernels/gemm.h"
#include "core/iteration/cost/layer/layer_cost.h"
#include "core/iteration/layouts/placements.h"
#include "tests/support/classic_model.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"
#include "tests/support/workloads.h"

#include <QtTest>

#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// A GPT of BLOOM's experiments on one A100, without a stack's habits; attention unfused.
Plan classic(int hidden, int heads)
{
    Plan plan = oneSite(1, 1);
    plan.cluster.datacenters = { site("a", 1, "a100-sxm-80gb") };
    plan.workload.model.clear();
    plan.workload.inlineModel = classicModel(hidden, heads);
    plan.workload.sequenceLength = 2048;
    plan.workload.precision = Precision::Fp16;
    plan.parallelism.tensor = 1;
    plan.stack.name = "ideal";
    plan.stack.overrides = { { "flash_attention", 0 } };
    return plan;
}

struct Costed {
    Workload work;
    LayerSite site;
    ChunkCost layer;
};

Costed costed(const Plan &plan)
{
    Costed result { test::placedWorkload(plan), {}, {} };
    result.site = layerSite(result.work, rankSet(result.work, result.work.layout.classes.front(), 0));
    result.layer = layerCost(result.work, result.site, false);
    return result;
}

double forwardOf(const Plan &plan)
{
    return costed(plan).layer.forward.total().value;
}

Plan with(Plan plan, const char *habit, double value)
{
    plan.stack.overrides[habit] = value;
    return plan;
}

} // namespace

class TestLayerShapes : public QObject {
    Q_OBJECT

private slots:
    void headsOffTheGridRunOnTheVectorUnits();
    void headsOnTheGridPayNothing();
    void matricesOffTheGridAreLoadedInSmallerPieces();
    void oddNumbersOfTokensPayNothing();
    void fusedKernelsPadTheirHeads();
    void launchesThatWaitAddUp();
    void plainTensorOperationsMoveMoreScores();
    void gatheredKeysAndValuesShowWhole();
    void documentsAttendAsShortSequencesDo();
    void oneDocumentASequenceChangesNothing();
};

/// Heads of 150 elements are 300 bytes, no multiple of 16: both batched products run at the rate of 32-bit arithmetic,
/// of 152 on the tensor cores. The rest of the layer is the same to 2 %.
void TestLayerShapes::headsOffTheGridRunOnTheVectorUnits()
{
    const Costed off = costed(classic(14400, 96));
    const GpuSpec &gpu = *off.site.gpu;
    const double rows = 96 * 2048.0;
    const auto products = [&](Precision precision) {
        return (gemmTime(gpu, precision, { rows, 2048, 150 }) + gemmTime(gpu, precision, { rows, 150, 2048 })).value;
    };
    const double speed = attentionSpeed(off.work, off.site);
    const double expected = (products(Precision::Fp32) - products(Precision::Fp16)) / speed;
    Plan aligned = classic(14592, 96); // 152
    const double difference = off.layer.forward.total().value - forwardOf(aligned) * std::pow(14400.0 / 14592, 2);
    QVERIFY2(std::abs(difference / expected - 1) < 0.1, qPrintable(QString::number(difference / expected)));
    QVERIFY(expected > 0.15 * off.layer.forward.total().value);
}

void TestLayerShapes::headsOnTheGridPayNothing()
{
    // 112 = 14 x 8: as long as heads of 128 within what narrower products lose.
    QVERIFY(forwardOf(classic(14336, 128)) < 1.05 * forwardOf(classic(14336, 112)));
}

/// Tokens are never loaded along: an odd number of them costs what the next even one does, in both directions.
void TestLayerShapes::oddNumbersOfTokensPayNothing()
{
    Plan odd = classic(8192, 64), even = odd;
    odd.workload.sequenceLength = 2047;
    const Costed o = costed(with(odd, "flash_attention", 1)), e = costed(with(even, "flash_attention", 1));
    QVERIFY(o.layer.weightGrad.total().value < 1.02 * e.layer.weightGrad.total().value);
    QVERIFY(o.layer.inputGrad.total().value < 1.02 * e.layer.inputGrad.total().value);
    QVERIFY(o.layer.forward.total().value < 1.02 * e.layer.forward.total().value);
}

/// 8,190 elements of 2 bytes divide into pieces of 4, a fourth of the tensor cores' 16: at most four times the time.
void TestLayerShapes::matricesOffTheGridAreLoadedInSmallerPieces()
{
    Plan on = classic(8192, 64), off = on;
    off.workload.inlineModel->ffn = 4 * 8192 - 2;
    const double ratio = forwardOf(off) / forwardOf(on);
    QVERIFY2(ratio > 1.5 && ratio < 4, qPrintable(QString::number(ratio)));
    QVERIFY(costed(off).layer.weightGrad.total().value > 1.5 * costed(on).layer.weightGrad.total().value);
}

void TestLayerShapes::fusedKernelsPadTheirHeads()
{
    const auto fused = [](int hidden) { return forwardOf(with(classic(hidden, 96), "flash_attention", 1)); };
    const double off = fused(14400), on = fused(14592);
    QVERIFY(off < 1.05 * on); // 150 computes as 152, and copies
    QVERIFY(off > 0.95 * on);
}

/// time = gpu + launches x host where each launch waits, (gpu^4 + host^4)^(1/4) where the host runs ahead.
void TestLayerShapes::launchesThatWaitAddUp()
{
    Plan plan = with(with(classic(2048, 16), "cuda_graphs", 0), "host_us_per_kernel", 20);
    const double free = forwardOf(with(plan, "host_us_per_kernel", 0));
    const Plan waiting = with(plan, "synchronous_launches", 1);
    const double ahead = forwardOf(plan), once = forwardOf(waiting) - free,
                 twice = forwardOf(with(waiting, "host_us_per_kernel", 40)) - free;
    QVERIFY(once > 0);
    QVERIFY(std::abs(twice / once - 2) < 1e-9);
    QVERIFY(forwardOf(waiting) > ahead);
    QVERIFY(std::abs(ahead - std::pow(std::pow(free, 4) + std::pow(once, 4), 0.25)) < 1e-9);
}

void TestLayerShapes::plainTensorOperationsMoveMoreScores()
{
    Plan plan = with(classic(2048, 16), "compiled", 0);
    QVERIFY(forwardOf(with(plan, "eager_attention", 1)) > forwardOf(plan));
}

/// Forward: an all-gather of K and V. Backward: again, and a scatter of their gradients. Nothing hides them.
void TestLayerShapes::gatheredKeysAndValuesShowWhole()
{
    Plan plan = oneSite(1, 1);
    plan.parallelism.tensor = 1;
    plan.parallelism.context = 8;
    plan.stack.name = "ideal";
    plan.stack.overrides = { { "context_gather", 1 } };
    const Costed gathered = costed(plan);
    const Bytes whole { 2.0 * 8192 * 2 * 8 * 128 }; // 16 bits, K and V of eight heads of 128
    const double gather = allGatherTime(whole, gathered.site.context).value,
                 scatter = reduceScatterTime(whole, gathered.site.context).value;
    QVERIFY(std::abs(gathered.layer.forward.context.value / gather - 1) < 1e-9);
    QVERIFY(std::abs(gathered.layer.inputGrad.context.value / (gather + scatter) - 1) < 1e-9);
    QVERIFY(gathered.layer.forward.context > costed(with(plan, "context_gather", 0)).layer.forward.context);
}

/// A sequence of s tokens in documents of D costs what s / D sequences of D do, in time and in model FLOPs.
void TestLayerShapes::documentsAttendAsShortSequencesDo()
{
    Plan plan = oneSite(1, 1), split = plan;
    plan.workload.sequenceLength = 32768;
    plan.workload.documentLength = 4096;
    split.workload.sequenceLength = 4096;
    split.workload.microBatch = 8;
    QVERIFY(std::abs(forwardOf(plan) / forwardOf(split) - 1) < 1e-3);
    Plan whole = plan;
    whole.workload.documentLength.reset();
    QVERIFY(forwardOf(plan) < 0.9 * forwardOf(whole));
    const auto flops = [](Plan p, int batch) {
        p.workload.globalBatch = batch;
        EvaluationWorkspace workspace;
        const auto evaluation = evaluate(std::make_shared<const Plan>(std::move(p)), builtinCatalogue(), workspace);
        const Metrics &m = (*evaluation)->metrics;
        return *m.modelTflopsPerGpu * m.gpusUsed * *m.iterationTime;
    };
    QVERIFY(std::abs(flops(plan, 8) / flops(split, 64) - 1) < 1e-9);
}

void TestLayerShapes::oneDocumentASequenceChangesNothing()
{
    Plan plan = oneSite(1, 1), stated = plan;
    stated.workload.documentLength = plan.workload.sequenceLength;
    QCOMPARE(forwardOf(stated), forwardOf(plan));
    stated.workload.documentLength = 2 * plan.workload.sequenceLength; // longer than a sequence: cut by it
    QCOMPARE(forwardOf(stated), forwardOf(plan));
}

TRAINYARD_APPLESS_TEST(TestLayerShapes)
#include "tst_layer_shapes.moc"
