// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/workload/model_math.h"
#include "tests/support/catalogued.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <cmath>

using namespace trainyard;
using test::model;

class ActivationsTest : public QObject {
    Q_OBJECT

private slots:
    void theEightValuesOfKorthikantisFigure1ComeOutExactly_data();
    void theEightValuesOfKorthikantisFigure1ComeOutExactly();
    void everyVariantOfTheClassicLayerFollowsItsFormula();
    void theModernLayerFollowsItsFormula();
    void aDeepSeekV3LayerKeeps572416BytesAToken();
    void tensorParallelismWithoutSequenceParallelismKeepsTheNormsWhole();
    void contextParallelismDividesTheSequence();
    void keyValueHeadsAreRepeatedBeyondTheirNumber();
    void imbalanceCountsOnRoutedTokensOnly();
    void fullRecomputationKeepsTheLayerInput();
    void thirtyTwoBitTrainingKeepsTwiceTheElementsAndTheSameMasks();
    void weightGradientsNeed32sbhOfAClassicLayer();
    void eightBitProductsKeepTheirInputsInEightBits();
    void operatorLevelCheckpointingKeepsEverySecondProduct();
    void moreRecomputationKeepsLess();
};

namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;

const StackSpec &classicStack()
{
    return *builtinCatalogue().stack("megatron-lm-2021");
}
const StackSpec &modernStack()
{
    return *builtinCatalogue().stack("megatron-core");
}

/// A stack that applies the probabilities of experts to their outputs, which are kept for that.
StackSpec expertOutputStack()
{
    StackSpec stack = modernStack();
    stack.storesExpertOutputs = true;
    return stack;
}

} // namespace

void ActivationsTest::theEightValuesOfKorthikantisFigure1ComeOutExactly_data()
{
    QTest::addColumn<QString>("id");
    QTest::addColumn<int>("microBatch");
    QTest::addColumn<double>("interleaving"); // 1 + (p-1)/(p v)
    QTest::addColumn<double>("tensorGib");
    QTest::addColumn<double>("selectiveGib");
    QTest::newRow("22B") << "megatron-22b" << 4 << 1.0 << 59.25 << 9.5625;
    QTest::newRow("175B") << "gpt-3-175b" << 1 << 1 + 7 / (8.0 * 3) << 66.84375 << 12.3515625;
    QTest::newRow("530B") << "megatron-530b" << 1 << 1 + 34 / (35.0 * 3) << 114.0234375 << 23.076171875;
    QTest::newRow("1T") << "megatron-1t" << 1 << 1.0 << 131.25 << 26.5625;
}

void ActivationsTest::theEightValuesOfKorthikantisFigure1ComeOutExactly()
{
    // First stage: p micro-batches of L/p layers = L layers, and more with interleaving
    QFETCH(QString, id);
    QFETCH(int, microBatch);
    QFETCH(double, interleaving);
    QFETCH(double, tensorGib);
    QFETCH(double, selectiveGib);
    const ModelSpec &m = model(id.toStdString());
    ActivationShape shape { .sequence = 2048, .microBatch = static_cast<double>(microBatch), .tensor = 8 };
    const double layers = m.layers * interleaving / kGib;
    QCOMPARE(layers * layerActivationBytes(m, false, shape, classicStack()), tensorGib);
    shape.sequenceParallel = true;
    shape.recompute = Recompute::Selective;
    QCOMPARE(layers * layerActivationBytes(m, false, shape, classicStack()), selectiveGib);
}

void ActivationsTest::everyVariantOfTheClassicLayerFollowsItsFormula()
{
    const ModelSpec &m = model("gpt-3-175b");
    const double s = 2048, b = 2, h = m.hidden, a = m.heads, t = 4;
    const double sbh = s * b * h, core = 5 * a * s / h;
    ActivationShape shape { .sequence = s, .microBatch = b };
    const auto bytes = [&] { return layerActivationBytes(m, false, shape, classicStack()); };
    QCOMPARE(bytes(), sbh * (34 + core));
    shape.tensor = 4;
    QCOMPARE(bytes(), sbh * (10 + 24 / t + core / t));
    shape.recompute = Recompute::Selective;
    QCOMPARE(bytes(), sbh * (10 + 24 / t));
    shape.sequenceParallel = true;
    QCOMPARE(bytes(), sbh * 34 / t);
    shape.recompute = Recompute::None;
    QCOMPARE(bytes(), sbh / t * (34 + core));
}

void ActivationsTest::theModernLayerFollowsItsFormula()
{
    // 8sbh + 4sb(a+g)d + 6sbf + 4sab; Llama 3 8B: 34.1 sbh
    const ModelSpec &m = model("llama-3-8b");
    const double s = 8192, b = 1, h = m.hidden;
    const ActivationShape shape { .sequence = s, .microBatch = b };
    const double expected =
        8 * s * b * h + 4 * s * b * (m.heads + m.kvHeads) * m.headDim + 6 * s * b * m.ffn + 4 * s * m.heads * b;
    QCOMPARE(layerActivationBytes(m, false, shape, modernStack()), expected);
    QVERIFY(std::abs(expected / (s * b * h) - 34.03) < 0.1);
    // GPT without dropout: 32 sbh, and the log-sum-exp
    const ModelSpec &gpt = model("gpt-3-175b");
    QCOMPARE(layerActivationBytes(gpt, false, shape, modernStack()), s * b * (32.0 * gpt.hidden + 4 * gpt.heads));
}

void ActivationsTest::aDeepSeekV3LayerKeeps572416BytesAToken()
{
    // 4h + 4q + 4c + 4a d_qk + 4a d_v + 4a + 2h, and 2h + 10E + 6fs + k(2h + 6f) + 2kh
    const ModelSpec &m = model("deepseek-v3");
    const StackSpec stack = expertOutputStack();
    ActivationShape shape { .sequence = 4096, .microBatch = 1 };
    QCOMPARE(layerActivationBytes(m, true, shape, stack) / 4096, 572416.0);
    shape.expert = 64; // a balanced expert group changes nothing on average
    QCOMPARE(layerActivationBytes(m, true, shape, stack) / 4096, 572416.0);
    QCOMPARE(layerActivationBytes(m, true, shape, stack) / (1024 * 1024), 2236.0); // MiB, as published
    // Megatron-Core applies the probabilities inside the experts: 2kh less
    QCOMPARE(layerActivationBytes(m, true, shape, modernStack()) / 4096, 572416.0 - 2 * 8 * 7168);
    shape.recompute = Recompute::Full;
    QCOMPARE(layerActivationBytes(m, true, shape, stack) / (1024 * 1024), 56.0);
}

void ActivationsTest::tensorParallelismWithoutSequenceParallelismKeepsTheNormsWhole()
{
    const ModelSpec &m = model("llama-3-70b");
    ActivationShape shape { .sequence = 8192, .microBatch = 1 };
    const double alone = layerActivationBytes(m, false, shape, modernStack());
    shape.tensor = 8;
    const double norms = 8.0 * 8192 * m.hidden;
    QCOMPARE(layerActivationBytes(m, false, shape, modernStack()), norms + (alone - norms) / 8);
    shape.sequenceParallel = true;
    QCOMPARE(layerActivationBytes(m, false, shape, modernStack()), alone / 8);
}

void ActivationsTest::contextParallelismDividesTheSequence()
{
    const ModelSpec &m = model("mixtral-8x7b");
    ActivationShape shape { .sequence = 8192, .microBatch = 1 };
    const double alone = layerActivationBytes(m, true, shape, modernStack());
    shape.context = 4;
    QCOMPARE(layerActivationBytes(m, true, shape, modernStack()), alone / 4);
}

void ActivationsTest::keyValueHeadsAreRepeatedBeyondTheirNumber()
{
    // 4 key-value heads over 8 ranks: each rank holds one whole head, twice its share
    const ModelSpec &m = model("qwen3-235b-a22b");
    ActivationShape shape { .sequence = 4096, .microBatch = 1, .tensor = 4, .sequenceParallel = true };
    const double four = layerActivationBytes(m, false, shape, modernStack());
    shape.tensor = 8;
    const double eight = layerActivationBytes(m, false, shape, modernStack());
    QCOMPARE(eight, four / 2 + 4096 * 4.0 * m.headDim * 0.5);
}

void ActivationsTest::imbalanceCountsOnRoutedTokensOnly()
{
    const ModelSpec &m = model("mixtral-8x7b");
    ActivationShape shape { .sequence = 4096, .microBatch = 1 };
    const double even = layerActivationBytes(m, true, shape, modernStack());
    shape.imbalance = 1.5;
    const double routed = 4096.0 * m.expertsPerToken * (2.0 * m.hidden + 6.0 * m.expertFfn);
    QCOMPARE(layerActivationBytes(m, true, shape, modernStack()), even + 0.5 * routed);
}

void ActivationsTest::fullRecomputationKeepsTheLayerInput()
{
    const ModelSpec &m = model("gpt-3-175b");
    ActivationShape shape { .sequence = 2048, .microBatch = 1, .tensor = 8, .recompute = Recompute::Full };
    QCOMPARE(layerActivationBytes(m, false, shape, classicStack()), 2.0 * 2048 * m.hidden);
    shape.sequenceParallel = true;
    QCOMPARE(layerActivationBytes(m, false, shape, classicStack()), 2.0 * 2048 * m.hidden / 8);
}

void ActivationsTest::thirtyTwoBitTrainingKeepsTwiceTheElementsAndTheSameMasks()
{
    // sbh(34 + 5as/h) has 2 + as/h bytes of masks; the rest doubles: sbh(66 + 9as/h)
    const ModelSpec &m = model("gpt-3-175b");
    const double s = 2048, h = m.hidden, a = m.heads;
    const ActivationShape shape { .sequence = s, .microBatch = 1, .elementBytes = 4, .inputBytes = 4 };
    QCOMPARE(layerActivationBytes(m, false, shape, classicStack()), s * h * (66 + 9 * a * s / h));
}

void ActivationsTest::weightGradientsNeed32sbhOfAClassicLayer()
{
    // Zero Bubble (arXiv 2401.10241), table 1: inputs of four products 2 + 2 + 2 + 8, gradients of their outputs 6 + 2
    // + 8 + 2
    const ModelSpec &m = model("gpt-3-175b");
    const ActivationShape shape { .sequence = 2048, .microBatch = 1 };
    QCOMPARE(layerActivations(m, false, shape, classicStack()).forWeightGrads, 32.0 * 2048 * m.hidden);
}

void ActivationsTest::eightBitProductsKeepTheirInputsInEightBits()
{
    // Half of two norm outputs and of the MLP product; the attention output gets an 8-bit copy: h + h + f - ad bytes
    // less
    const ModelSpec &m = model("llama-3-8b");
    ActivationShape shape { .sequence = 8192, .microBatch = 1 };
    const double sixteen = layerActivationBytes(m, false, shape, modernStack());
    shape.inputBytes = keptInputBytes(Precision::Fp8, modernStack());
    QCOMPARE(sixteen - layerActivationBytes(m, false, shape, modernStack()),
        8192.0 * (2 * m.hidden + m.ffn - m.heads * m.headDim));
    QCOMPARE(keptInputBytes(Precision::Bf16, modernStack()), 2.0);
    QCOMPARE(keptInputBytes(Precision::Fp8, *builtinCatalogue().stack("fsdp")), 2.0);
}

void ActivationsTest::operatorLevelCheckpointingKeepsEverySecondProduct()
{
    // layer input, q, v, attention output, log-sum-exp, gate: 2h + 2ad + 2gd + 2ad + 4a + 2f
    const ModelSpec &m = model("llama-3-8b");
    const StackSpec &stack = *builtinCatalogue().stack("fsdp");
    ActivationShape shape { .sequence = 8192, .microBatch = 1, .recompute = Recompute::Selective };
    const double ad = m.heads * m.headDim, gd = m.kvHeads * m.headDim;
    QCOMPARE(layerActivationBytes(m, false, shape, stack),
        8192.0 * (2 * m.hidden + 4 * ad + 2 * gd + 4 * m.heads + 2 * m.ffn));
}

void ActivationsTest::moreRecomputationKeepsLess()
{
    for (const char *name : { "gpt-3-175b", "llama-3-8b", "mixtral-8x7b", "deepseek-v3" }) {
        for (const char *stackName : { "megatron-lm-2021", "megatron-core", "fsdp", "deepspeed" }) {
            const ModelSpec &m = model(name);
            const StackSpec &stack = *builtinCatalogue().stack(stackName);
            ActivationShape shape { .sequence = 4096, .microBatch = 1, .tensor = 2, .sequenceParallel = true };
            const LayerActivations none = layerActivations(m, m.isMoe(), shape, stack);
            shape.recompute = Recompute::Selective;
            const LayerActivations selective = layerActivations(m, m.isMoe(), shape, stack);
            shape.recompute = Recompute::Full;
            const LayerActivations full = layerActivations(m, m.isMoe(), shape, stack);
            QVERIFY(full.kept < selective.kept && selective.kept <= none.kept);
            QCOMPARE(full.whole, none.kept);
        }
    }
}

TRAINYARD_APPLESS_TEST(ActivationsTest)
#include "tst_activations.moc"
