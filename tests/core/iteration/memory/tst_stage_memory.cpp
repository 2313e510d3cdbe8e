// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/memory/stage_memory.h"
#include "tests/support/test_program.h"

#include "core/engine/schedule/program.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/placement/place.h"

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
    plan.cluster.datacenters = { site("selene", 8, "a100-sxm-80gb") };
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

class TestStageMemory : public QObject {
    Q_OBJECT

private slots:
    void statesOfTheFirstStageTakeEighteenBytesAParameter();
    void activationsOfTheFirstStageAreThoseOfThePaper();
    void activationsFallTowardsTheLastStage();
    void zeroStagesShardOneStateMoreEach();
    void partsAddUpToTheDevice();
    void theCurveEndsWhereItBegan();
    void theCurveReachesTheStagesFigureUnderEverySchedule_data();
    void theCurveReachesTheStagesFigureUnderEverySchedule();
    void theFirst1F1BStageOfMixtureModelsHoldsWhatItsLayersKeep();
    void moreSharingOrRecomputationNeedsLess();
    void theLastStageHoldsItsLogitsOnce();
    void gpipeKeepsTheLossOfEveryMicroBatch();
    void recomputationHoldsOneLayerMore();
    void aSplitBackwardKeepsWhatWeightGradientsNeed();
    void thirtyTwoBitTrainingFollowsItsPrecision();
    void theIdealStackAddsNothing();
    void fullyShardedWeightsAreKeptInThirtyTwoBits();
    void deepSpeedsEstimatorForStageTwoIsMet();
    void eightBitAdamKeepsTheTokenTableInThirtyTwoBits();
    void tiedEmbeddingsLieOnBothEnds();
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
    // 34 s b h L / t x (1 + (p - 1) / (p v)) = 12.3515625 GiB
    const StageMemory first = memoryOf(korthikanti175b()).front();
    QVERIFY(std::abs(double(first.activations) / kGib - 12.3515625) < 1e-6);
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
        Plan plan = oneSite(8); // two replicas
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
    for (const Plan &plan : { oneSite(8), threeSites(8), korthikanti175b() }) {
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

void TestStageMemory::theCurveReachesTheStagesFigureUnderEverySchedule_data()
{
    QTest::addColumn<int>("schedule");
    QTest::addColumn<int>("recompute");
    for (int kind = 0; kind <= int(ScheduleKind::Atlas); ++kind) {
        for (int recompute = 0; recompute < 3; ++recompute)
            QTest::addRow("schedule %d, recompute %d", kind, recompute) << kind << recompute;
    }
}

void TestStageMemory::theCurveReachesTheStagesFigureUnderEverySchedule()
{
    QFETCH(int, schedule);
    QFETCH(int, recompute);
    std::shared_ptr<const Evaluation> evaluation;
    for (const int chunks : { 1, 2, 4 }) { // the first that the schedule takes
        Plan plan = oneSite(4);
        plan.schedule = ScheduleKind(schedule);
        plan.parallelism.virtualPipeline = chunks;
        plan.memory.recompute = Recompute(recompute);
        evaluation = evaluated(plan);
        if (evaluation->metrics.memory)
            break;
    }
    QVERIFY(evaluation->metrics.memory.has_value());
    for (std::size_t stage = 0; stage < evaluation->memoryCurves.size(); ++stage) {
        const auto &curve = evaluation->memoryCurves[stage];
        const StageMemory &memory = evaluation->metrics.memory->perStage[stage];
        std::int64_t highest = 0;
        for (const auto &step : curve)
            highest = std::max(highest, step.bytes);
        QVERIFY2(std::abs(highest - memory.device) <= 2,
            qPrintable(QString("stage %1: %2 of %3").arg(stage).arg(highest).arg(memory.device)));
        QVERIFY(std::abs(curve.front().bytes - curve.back().bytes) <= 2);
        // At the peak a micro-batch is between its forward and its backward, or its weight gradients are still to come
        QVERIFY(memory.inFlight > 0 || memory.activations > 0);
    }
}

void TestStageMemory::theFirst1F1BStageOfMixtureModelsHoldsWhatItsLayersKeep()
{
    // p micro-batches of L / p layers
    Plan plan = oneSite(4);
    plan.workload.model = "mixtral-8x7b";
    plan.parallelism.tensor = 2;
    plan.parallelism.expert = 4;
    const auto evaluation = evaluated(plan);
    const StageMemory &first = evaluation->metrics.memory->perStage.front();
    const ActivationShape shape {
        .sequence = 8192, .microBatch = 1, .tensor = 2, .expert = 4, .sequenceParallel = true
    };
    const double layer =
        layerActivationBytes(evaluation->model, true, shape, *builtinCatalogue().stack("megatron-core"));
    QCOMPARE(first.inFlight, 4.0);
    QVERIFY(std::abs(double(first.activations) - 4 * 8 * layer) < 1);
}

void TestStageMemory::moreSharingOrRecomputationNeedsLess()
{
    for (const char *stack : { "megatron-core", "megatron-lm-2021", "megatron-deepspeed", "fsdp", "deepspeed" }) {
        const auto device = [&](auto change) {
            Plan plan = oneSite(8);
            plan.stack.name = stack;
            plan.parallelism.tensor = 4;
            change(plan);
            const auto stages = memoryOf(plan);
            return stages[std::min<std::size_t>(1, stages.size() - 1)].device;
        };
        const std::int64_t none = device([](Plan &) {});
        const std::int64_t selective = device([](Plan &p) { p.memory.recompute = Recompute::Selective; });
        const std::int64_t full = device([](Plan &p) { p.memory.recompute = Recompute::Full; });
        QVERIFY2(full < none && selective <= none, stack);
        QVERIFY2(full < selective, stack);
        // ZeRO-1 always saves. Beyond it gradients, then weights, where they do not stay whole: without a pipeline, and
        // in runs.
        const std::int64_t shared = device([](Plan &p) { p.parallelism.zeroStage = 0; });
        QVERIFY2(device([](Plan &p) { p.parallelism.zeroStage = 1; }) < shared, stack);
        for (const bool isPiped : { false, true }) {
            const auto sharded = [&](int zero) {
                return device([&](Plan &p) {
                    p.parallelism.zeroStage = zero;
                    p.parallelism.pipeline = isPiped ? 4 : 1;
                    p.parallelism.virtualPipeline = isPiped ? 8 : 1;
                    p.schedule = isPiped ? ScheduleKind::Interleaved : ScheduleKind::OneFOneB;
                });
            };
            QVERIFY2(sharded(2) < sharded(1), stack);
            QVERIFY2(sharded(3) < sharded(2) || isPiped, stack); // four of eight chunks are gathered
        }
        QVERIFY2(device([](Plan &p) { p.parallelism.tensor = 8; }) < none, stack);
        QVERIFY2(none < device([](Plan &p) { p.parallelism.sequenceParallel = false; }), stack);
        QVERIFY2(none < device([](Plan &p) { p.workload.microBatch = 2; }), stack);
    }
}

void TestStageMemory::theLastStageHoldsItsLogitsOnce()
{
    // 1F1B has one micro-batch there: peak of the loss 6 s b V / t, or gradients of logits (2) and of the matrix
    Plan plan = oneSite(4);
    plan.stack.overrides = { { "backward_temporaries", 0 } };
    const StageMemory last = memoryOf(plan).back();
    QCOMPARE(last.inFlight, 1.0);
    const double expected =
        6.0 * 8192 * 128256 / 8 + 2 * 2.0 * 8192 * 4096 / 8; // and the final norm's input and output
    double found = 0;
    for (const auto &[name, bytes] : last.parts)
        if (name == "logits and loss")
            found = double(bytes);
    QVERIFY(std::abs(found - expected) < 1);
}

void TestStageMemory::gpipeKeepsTheLossOfEveryMicroBatch()
{
    // m micro-batches wait with 4 s b V / t each and the norm; the loss of one is at its peak
    Plan plan = oneSite(4);
    plan.schedule = ScheduleKind::GPipe;
    plan.workload.globalBatch = 6;
    plan.stack.overrides = { { "backward_temporaries", 0 } };
    const StageMemory last = memoryOf(plan).back();
    const double logits = 8192.0 * 128256 / 8, norm = 2 * 2.0 * 8192 * 4096 / 8;
    double found = 0;
    for (const auto &[name, bytes] : last.parts)
        if (name == "logits and loss")
            found = double(bytes);
    QCOMPARE(last.inFlight, 6.0);
    QVERIFY(std::abs(found - (6 * (4 * logits + norm) + 2 * logits)) < 1);
}

void TestStageMemory::recomputationHoldsOneLayerMore()
{
    // Full: beside the inputs of its layers a stage holds the rest of one layer, and nothing of the others
    Plan plan = oneSite(4);
    plan.memory.recompute = Recompute::Full;
    plan.stack.overrides = { { "backward_temporaries", 0 } };
    const StageMemory first = memoryOf(plan).front();
    ActivationShape shape {
        .sequence = 8192, .microBatch = 1, .tensor = 8, .sequenceParallel = true, .recompute = Recompute::Full
    };
    const LayerActivations layer = layerActivations(
        *builtinCatalogue().model("llama-3-8b"), false, shape, *builtinCatalogue().stack("megatron-core"));
    double recomputed = 0;
    for (const auto &[name, bytes] : first.parts)
        if (name == "layer under recomputation")
            recomputed = double(bytes);
    QVERIFY(std::abs(recomputed - (layer.whole - layer.kept)) < 1);
    QVERIFY(std::abs(double(first.activations) - 4 * 8 * layer.kept) < 1);
}

void TestStageMemory::aSplitBackwardKeepsWhatWeightGradientsNeed()
{
    // ZB-H1: (p - i) M_B + i M_W at the most (Zero Bubble, table 2)
    Plan plan = oneSite(4);
    plan.schedule = ScheduleKind::ZbH1;
    const auto evaluation = evaluated(plan);
    QVERIFY(evaluation->metrics.memory);
    const auto &stages = evaluation->metrics.memory->perStage;
    const ActivationShape shape { .sequence = 8192, .microBatch = 1, .tensor = 8, .sequenceParallel = true };
    const LayerActivations layer =
        layerActivations(evaluation->model, false, shape, *builtinCatalogue().stack("megatron-core"));
    for (int i = 0; i < 4; ++i)
        QVERIFY(
            double(stages[std::size_t(i)].activations) <= 8 * ((4 - i) * layer.kept + i * layer.forWeightGrads) + 1);
    QVERIFY(stages[3].activations > std::int64_t(8 * layer.kept));
}

void TestStageMemory::thirtyTwoBitTrainingFollowsItsPrecision()
{
    // weights 4, gradients 4, moments 8; activations twice but the log-sum-exp, which is 32 bits wide anyway
    Plan plan = oneSite(4);
    plan.parallelism.zeroStage = 0;
    const StageMemory bf16 = memoryOf(plan)[1];
    plan.workload.precision = Precision::Tf32;
    const StageMemory tf32 = memoryOf(plan)[1];
    QCOMPARE(tf32.weights, 2 * bf16.weights);
    QCOMPARE(tf32.gradients, bf16.gradients);
    QCOMPARE(3 * tf32.optimizer, 2 * bf16.optimizer);
    const double logSumExp = 3 * 8 * 4.0 * 32 * 8192 / 8;
    QVERIFY(std::abs(double(tf32.activations) - (2 * double(bf16.activations) - logSumExp)) < 4);
}

void TestStageMemory::theIdealStackAddsNothing()
{
    Plan plan = oneSite(4);
    plan.stack.name = "ideal";
    for (const StageMemory &m : memoryOf(plan)) {
        QCOMPARE(m.device, m.peak);
        for (const auto &[name, bytes] : m.parts)
            QVERIFY2(name == "weights" || name == "gradients" || name == "optimizer states" || name == "logits and loss"
                    || name == "boundary buffer" || name.starts_with("activations of"),
                name.c_str());
    }
}

void TestStageMemory::fullyShardedWeightsAreKeptInThirtyTwoBits()
{
    // FSDP: (4 + 4 + 8) P / N
    Plan plan = oneSite(4, 1);
    plan.parallelism.tensor = 1;
    plan.parallelism.zeroStage = 3;
    plan.stack.name = "fsdp";
    const auto evaluation = evaluated(plan);
    const StageMemory &m = evaluation->metrics.memory->perStage.front();
    const double states = double(m.weights + m.gradients + m.optimizer);
    QVERIFY(std::abs(states - 16 * totalParameters(evaluation->model) / 32) < 4);
}

void TestStageMemory::deepSpeedsEstimatorForStageTwoIsMet()
{
    // 2 P + 18 P / N less the 32-bit gradients' 4: the estimator's 18 are 2 gradients, 4 gradients for the step, 12
    // states
    Plan plan = oneSite(4, 1);
    plan.parallelism.tensor = 1;
    plan.parallelism.zeroStage = 2;
    plan.stack.name = "deepspeed";
    const auto evaluation = evaluated(plan);
    const StageMemory &m = evaluation->metrics.memory->perStage.front();
    const double states = double(m.weights + m.gradients + m.optimizer),
                 parameters = totalParameters(evaluation->model);
    QVERIFY(std::abs(states - (2 * parameters + 18 * parameters / 32)) < 4);
}

void TestStageMemory::eightBitAdamKeepsTheTokenTableInThirtyTwoBits()
{
    Plan plan = oneSite(4);
    plan.parallelism.zeroStage = 0;
    plan.workload.optimizer = Optimizer::Adam8bit;
    const std::vector<StageMemory> stages = memoryOf(plan);
    const double moments = 2 + 8.0 / 2048, table = 128256.0 * 4096 / 8;
    const double first = double(stages[0].weights) / 2, second = double(stages[1].weights) / 2; // elements
    QVERIFY(std::abs(double(stages[1].optimizer) - second * (4 + moments)) < 2);
    QVERIFY(std::abs(double(stages[0].optimizer) - (first * (4 + moments) + table * (8 - moments))) < 2);
}

void TestStageMemory::tiedEmbeddingsLieOnBothEnds()
{
    Plan plan = oneSite(4);
    plan.workload.inlineModel = *builtinCatalogue().model("llama-3-8b");
    plan.workload.inlineModel->id.clear();
    const std::vector<StageMemory> untied = memoryOf(plan);
    plan.workload.inlineModel->tiedEmbeddings = true;
    const std::vector<StageMemory> tied = memoryOf(plan);
    QCOMPARE(tied.front().weights, untied.front().weights);
    QCOMPARE(tied.back().weights, untied.back().weights);
    Plan alone = plan;
    alone.parallelism.pipeline = 1;
    const std::int64_t once = memoryOf(alone).front().weights;
    alone.workload.inlineModel->tiedEmbeddings = false;
    QCOMPARE(memoryOf(alone).front().weights - once, std::int64_t(2.0 * 128256 * 4096 / 8));
}

TRAINYARD_APPLESS_TEST(TestStageMemory)
#include "tst_stage_memory.moc"
