// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/stage_memory.h"

#include "core/placement/place.h"

#include <QtTest>

#include "tests/support/plans.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;

std::vector<StageMemory> memoryOf(const Plan &plan)
{
    return evaluated(plan)->metrics.memory->perStage;
}

/// Korthikanti et al. 2022: 175B on 64 A100, tensor 8, pipeline 8, three interleaved chunks.
Plan korthikanti175b()
{
    Plan plan;
    plan.cluster.datacenters = {site("selene", 8, "a100-sxm-80gb")};
    ModelSpec model;
    model.layers = 96;
    model.hidden = 12288;
    model.heads = model.kvHeads = 96;
    model.headDim = 128;
    model.ffn = 4 * 12288;
    model.vocab = 51200;
    model.layerNorm = model.linearBias = model.dropout = true;
    model.learnedPositions = 2048;
    model.tiedEmbeddings = true;
    plan.workload.inlineModel = model;
    plan.workload.globalBatch = 64;
    plan.workload.precision = Precision::Fp16;
    plan.parallelism.tensor = 8;
    plan.parallelism.pipeline = 8;
    plan.parallelism.virtualPipeline = 3;
    plan.parallelism.zeroStage = 0;
    plan.parallelism.sequenceParallel = true;
    plan.schedule = ScheduleKind::Interleaved;
    plan.stack.name = "megatron-lm-2021";
    plan.memory.recompute = Recompute::Selective;
    return plan;
}

} // namespace

class TestStageMemory : public QObject
{
    Q_OBJECT

private slots:
    void statesOfTheFirstStageTakeEighteenBytesAParameter();
    void activationsOfTheFirstStageAreThoseOfThePaper();
    void activationsFallTowardsTheLastStage();
    void zeroStagesShardOneStateMoreEach();
    void partsAddUpToTheDevice();
    void theCurveEndsWhereItBegan();
};

void TestStageMemory::statesOfTheFirstStageTakeEighteenBytesAParameter()
{
    // Fig. 1 counts 18 bytes x 12 L h^2 / (t p) = 45.5625 GiB; ours adds embedding, norms and biases: V h / t + …
    const StageMemory first = memoryOf(korthikanti175b()).front();
    const double states = double(first.weights + first.gradients + first.optimizer);
    const double embedding = 18.0 * (51200 + 2048) * 12288 / 8;
    QVERIFY(std::abs((states - embedding) / kGib - 45.5625) < 0.05);
}

void TestStageMemory::activationsOfTheFirstStageAreThoseOfThePaper()
{
    // 34 s b h L / t x (1 + (p - 1) / (p v)) = 12.3515625 GiB, the embedding's dropout mask of each micro-batch, and the
    // attention core of the layer whose backward runs, 5 a s^2 b / t
    const StageMemory first = memoryOf(korthikanti175b()).front();
    const double mask = 2048.0 * 12288 / 8 * first.inFlight;
    const double core = 5.0 * 96 * 2048 * 2048 / 8;
    QVERIFY(std::abs((double(first.activations) - mask - core) / kGib - 12.3515625) < 1e-6);
}

void TestStageMemory::activationsFallTowardsTheLastStage()
{
    // 1F1B keeps min(m, p - i) micro-batches on stage i
    const std::vector<StageMemory> stages = memoryOf(oneSite(4));
    for (std::size_t i = 0; i < stages.size(); ++i)
        QCOMPARE(stages[i].inFlight, 4.0 - double(i));
}

void TestStageMemory::zeroStagesShardOneStateMoreEach()
{
    const auto states = [](int zero) {
        Plan plan = oneSite(8);   // two replicas
        plan.parallelism.zeroStage = zero;
        return memoryOf(plan)[1];
    };
    const StageMemory none = states(0), one = states(1), two = states(2), three = states(3);
    QCOMPARE(one.optimizer, (none.optimizer + 1) / 2);
    QCOMPARE(one.gradients, none.gradients);
    QCOMPARE(two.gradients, (none.gradients + 1) / 2);
    QCOMPARE(two.weights, none.weights);
    QCOMPARE(three.weights, (none.weights + 1) / 2);
}

void TestStageMemory::partsAddUpToTheDevice()
{
    for (const Plan &plan : {oneSite(8), threeSites(8), korthikanti175b()}) {
        for (const StageMemory &m : memoryOf(plan)) {
            std::int64_t sum = 0;
            for (const auto &part : m.parts)
                sum += part.second;
            QCOMPARE(sum, m.device);
            QCOMPARE(m.weights + m.gradients + m.optimizer + m.activations + m.buffers, m.peak);
            QVERIFY(m.peak <= m.reserved && m.reserved <= m.device);
        }
    }
}

void TestStageMemory::theCurveEndsWhereItBegan()
{
    const auto evaluation = evaluated(oneSite(8));
    QCOMPARE(evaluation->memoryCurves.size(), std::size_t(4));
    for (std::size_t stage = 0; stage < 4; ++stage) {
        const auto &curve = evaluation->memoryCurves[stage];
        QCOMPARE(curve.front().bytes, curve.back().bytes);
        std::int64_t highest = 0;
        for (const auto &step : curve)
            highest = std::max(highest, step.bytes);
        QVERIFY(std::abs(double(highest - evaluation->metrics.memory->perStage[stage].device)) < 16);
    }
}

QTEST_APPLESS_MAIN(TestStageMemory)
#include "tst_stage_memory.moc"
