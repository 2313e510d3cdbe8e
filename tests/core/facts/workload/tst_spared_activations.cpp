// SPDX-License-Identifier: GPL-3.0-or-later
// What latent attention and experts let a layer spare, against the published memory of DeepSeek-V3: sequence 4096,
// PP16 EP64 TP1, 1024 GPUs, 4 layers a stage, BF16; 15 micro-batches of stage 0 wait, 60 layers of them in all.
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/workload/saved_tensors.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>

using namespace trainyard;

namespace {

constexpr double kGib = 0x1p30, kTokens = 4096, kLayerMicroBatches = 4 * 15;

const ModelSpec &v3()
{
    return *builtinCatalogue().model("deepseek-v3");
}

/// A stack that applies the probabilities of experts to their outputs, which are kept for that.
StackSpec stack()
{
    StackSpec stack = *builtinCatalogue().stack("megatron-core");
    stack.storesExpertOutputs = true;
    return stack;
}

ActivationShape shape()
{
    return { .sequence = kTokens, .microBatch = 1, .expert = 64 };
}

double keptGib(const ActivationShape &of)
{
    return kLayerMicroBatches * layerActivationBytes(v3(), true, of, stack()) / kGib;
}

/// As the experts' input leaves for host memory.
double expertInputGib(const ActivationShape &of)
{
    double bytes = 0;
    for (const SavedTensor &tensor : savedTensors(v3(), true, of, stack()))
        bytes += tensor.name == SavedName::PermutedTokens ? tensor.bytes : 0;
    return kLayerMicroBatches * bytes / kGib;
}

bool isPublished(double gib, double published)
{
    return std::abs(gib - published) <= 0.0051; // two decimals were published
}

} // namespace

class TestSparedActivations : public QObject {
    Q_OBJECT

private slots:
    /// T tokens on each of 8 ranks of a tensor group, two experts a token of width h: all ranks hold the same tokens
    /// and each computes every visit of whole experts (T k); slices of them, or of a split sequence, are an eighth; an
    /// expert over all eight gets all of them on each.
    void ranksThatHoldTheSameTokensKeepEachVisitUnlessSlicesTravel()
    {
        const ModelSpec &model = *builtinCatalogue().model("mixtral-8x7b");
        const auto visits = [&](bool isSplit, bool isSliced, int expertTensor) {
            ActivationShape of { .sequence = kTokens, .tensor = 8, .expert = 2, .expertTensor = expertTensor };
            of.sequenceParallel = isSplit;
            of.slicesTokens = isSliced;
            for (const SavedTensor &tensor : savedTensors(model, true, of, stack()))
                if (tensor.name == SavedName::PermutedTokens)
                    return tensor.elements / (kTokens * model.expertsPerToken * model.hidden);
            return 0.0;
        };
        QCOMPARE(visits(false, false, 1), 1.0);
        QCOMPARE(visits(false, true, 1), 1.0 / 8);
        QCOMPARE(visits(true, false, 1), 1.0 / 8);
        for (const bool isSliced : { false, true })
            QCOMPARE(visits(false, isSliced, 8), 1.0);
        QCOMPARE(visits(false, false, 2), 1.0); // four groups of two, each with all
    }

    void everySavingOfDeepSeekV3IsThePublishedOne();
    void withAllOfThemStageZeroHoldsThePublishedTotal();
    void whatIsSparedTwiceIsCountedOnce();
    void queriesThatWereNotCompressedStay();
    void imbalanceCountsOnWhatIsSpared();
    void tensorsAddUpToWhatIsKept();
    void theStackThatKeepsNoOutputsHasNoneToSpare();
    void coarserRecomputationLeavesNothingToSpare();
};

void TestSparedActivations::everySavingOfDeepSeekV3IsThePublishedOne()
{
    const double all = keptGib(shape());
    QVERIFY(std::abs(all - 131.0) < 0.05);
    const auto saved = [&](auto change) {
        ActivationShape of = shape();
        change(of);
        return all - keptGib(of);
    };
    // bytes a token: 2fs + 2kf; 4h; 4a d_qk + 2a d_v; 2kh; 6fs
    QVERIFY(isPublished(saved([](ActivationShape &s) { s.recomputeActivationFunction = true; }), 8.44));
    QVERIFY(isPublished(saved([](ActivationShape &s) { s.recomputeNorms = true; }), 6.56));
    QVERIFY(isPublished(saved([](ActivationShape &s) { s.recomputeUpProjection = true; }), 30.0));
    QVERIFY(isPublished(saved([](ActivationShape &s) { s.memoryEfficientPermute = true; }), 26.25));
    QVERIFY(isPublished(saved([](ActivationShape &s) { s.recomputeSharedExperts = true; }), 2.81));
    QVERIFY(isPublished(expertInputGib(shape()), 26.25));
}

void TestSparedActivations::withAllOfThemStageZeroHoldsThePublishedTotal()
{
    // States: 4 layers a GPU, 6 + 12 / 64 bytes of a dense parameter, 18 of an expert's (EP64 has one replica).
    const LayerParameters layer = layerParameters(v3(), true);
    const double dense = 4 * (layer.total() - layer.experts) * (6 + 12 / 64.0) / kGib,
                 experts = 4 * layer.experts / 64 * 18 / kGib;
    QVERIFY(std::abs(dense - 5.33) < 0.05); // the published figure leaves the router out
    QVERIFY(std::abs(experts - 11.81) < 0.005);
    // The published savings add up to 100.31 GiB, of 131.02 kept: with the states 47.8. They take the product of the
    // shared experts' activation function (2fs a token) off twice, once with the activation functions and once with
    // the shared experts; kept tensors cannot go twice, so ours is that much more.
    ActivationShape of = shape();
    of.recomputeActivationFunction = of.recomputeNorms = of.recomputeUpProjection = true;
    of.memoryEfficientPermute = of.recomputeSharedExperts = true;
    const double twice = kLayerMicroBatches * kTokens * 2 * v3().sharedExpertFfn / kGib;
    const double total = keptGib(of) - expertInputGib(of) + dense + experts;
    QVERIFY(std::abs(twice - 0.94) < 0.005);
    QVERIFY2(std::abs(total - twice - 47.8) < 0.1, qPrintable(QString::number(total)));
}

void TestSparedActivations::whatIsSparedTwiceIsCountedOnce()
{
    // both: 6fs of the shared experts and 2kf of the others
    ActivationShape of = shape();
    const double all = layerActivationBytes(v3(), true, of, stack());
    of.recomputeActivationFunction = of.recomputeSharedExperts = true;
    const double f = v3().expertFfn, k = v3().expertsPerToken;
    QCOMPARE(all - layerActivationBytes(v3(), true, of, stack()), kTokens * (6.0 * v3().sharedExpertFfn + 2 * k * f));
    QCOMPARE(layerActivations(v3(), true, of, stack()).whole, all); // it is all there while the layer runs again
}

void TestSparedActivations::queriesThatWereNotCompressedStay()
{
    // DeepSeek-V2-Lite: K (a d_qk) and V (a d_v) go, Q is a product of the layer's input
    const ModelSpec &lite = *builtinCatalogue().model("deepseek-v2-lite");
    QCOMPARE(lite.latent.queryRank, 0);
    ActivationShape of = shape();
    of.expert = 1;
    const double all = layerActivationBytes(lite, true, of, stack());
    of.recomputeUpProjection = true;
    const double a = lite.heads, query = lite.latent.nopeDim + lite.latent.ropeDim;
    QCOMPARE(all - layerActivationBytes(lite, true, of, stack()), kTokens * 2 * a * (query + lite.latent.valueDim));
}

void TestSparedActivations::imbalanceCountsOnWhatIsSpared()
{
    // the k terms times 2: 2kh of the outputs, 2kh of the inputs
    ActivationShape of = shape();
    const double inputs = expertInputGib(of);
    of.imbalance = 2;
    QCOMPARE(expertInputGib(of), 2 * inputs);
    const double all = keptGib(of);
    of.memoryEfficientPermute = true;
    QVERIFY(std::abs(all - keptGib(of) - 2 * inputs) < 1e-9);
}

void TestSparedActivations::tensorsAddUpToWhatIsKept()
{
    for (int switches = 0; switches < 32; ++switches) {
        ActivationShape of = shape();
        of.recomputeActivationFunction = (switches & 1) != 0;
        of.recomputeNorms = (switches & 2) != 0;
        of.recomputeUpProjection = (switches & 4) != 0;
        of.memoryEfficientPermute = (switches & 8) != 0;
        of.recomputeSharedExperts = (switches & 16) != 0;
        for (const bool isExpert : { false, true }) {
            double sum = 0;
            for (const SavedTensor &tensor : savedTensors(v3(), isExpert, of, stack()))
                sum += tensor.bytes;
            const double kept = layerActivationBytes(v3(), isExpert, of, stack());
            QVERIFY(std::abs(sum - kept) <= 1e-12 * kept);
        }
    }
}

void TestSparedActivations::theStackThatKeepsNoOutputsHasNoneToSpare()
{
    const StackSpec &plain = *builtinCatalogue().stack("megatron-core");
    ActivationShape of = shape();
    const double standard = layerActivationBytes(v3(), true, of, plain);
    of.memoryEfficientPermute = true;
    QCOMPARE(layerActivationBytes(v3(), true, of, plain), standard);
    QCOMPARE(layerActivationBytes(v3(), true, of, stack()), standard);
}

void TestSparedActivations::coarserRecomputationLeavesNothingToSpare()
{
    const StackSpec &byOperator = *builtinCatalogue().stack("fsdp");
    QVERIFY(byOperator.operatorLevelSelective);
    for (const Recompute recompute : { Recompute::Full, Recompute::Selective }) {
        ActivationShape of = shape();
        of.recompute = recompute;
        const double kept = layerActivationBytes(v3(), true, of, byOperator);
        of.recomputeUpProjection = of.recomputeSharedExperts = true;
        QCOMPARE(layerActivationBytes(v3(), true, of, byOperator), kept);
    }
}

TRAINYARD_APPLESS_TEST(TestSparedActivations)
#include "tst_spared_activations.moc"
