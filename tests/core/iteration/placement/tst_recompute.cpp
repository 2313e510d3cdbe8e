// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/activation_shape.h"
#include "core/iteration/placement/recompute.h"
#include "tests/support/test_program.h"

#include "tests/core/evaluation/memory_fit/ladder_plans.h"

#include <QTest>

using namespace trainyard;
using test::evaluated;
using test::fullest;
using test::oneNode;
using test::with;

namespace {

double iteration(const EvaluationPtr &e)
{
    return *e->metrics.iterationTime;
}

double keptPerToken(const EvaluationPtr &e) // of one layer
{
    const Plan &plan = *e->plan;
    return double(fullest(e).activationPerMicroBatch) / plan.workload.sequenceLength / plan.workload.microBatch
        / e->model.layers;
}

} // namespace

class RecomputeTest : public QObject {
    Q_OBJECT
private slots:
    /// Specification B.4: outputs of the norms are 4 bytes of s b h, of the activation function 2 of s b f.
    void recomputedOutputsAreNotKept()
    {
        const auto kept = evaluated(oneNode());
        const auto norms = evaluated(with(oneNode(), [](Plan &p) { p.memory.recomputeNorms = true; }));
        const auto function = evaluated(with(oneNode(), [](Plan &p) { p.memory.recomputeActivationFunction = true; }));
        QVERIFY(std::abs(keptPerToken(kept) - keptPerToken(norms) - 4.0 * kept->model.hidden) < 1);
        QVERIFY(std::abs(keptPerToken(kept) - keptPerToken(function) - 2.0 * kept->model.ffn) < 1);
        for (const auto &less : { norms, function }) {
            QVERIFY(fullest(less).device < fullest(kept).device);
            QVERIFY(iteration(less) > iteration(kept));
            QVERIFY(iteration(less) < 1.1 * iteration(kept)); // cheap kernels
        }
    }

    /// Stored: k layer inputs and L - k whole layers; time: k forwards more.
    void blocksLieBetweenNoneAndAll()
    {
        const auto none = evaluated(oneNode());
        const auto all = evaluated(with(oneNode(), [](Plan &p) { p.memory.recompute = Recompute::Full; }));
        const int layers = none->model.layers;
        double lastBytes = 1e300, lastTime = 0;
        for (const int k : { 1, layers / 4, layers / 2, layers }) {
            const auto some = evaluated(with(oneNode(), [=](Plan &p) {
                p.memory.recompute = Recompute::Full;
                p.memory.recomputeLayers = k;
            }));
            const double bytes = double(fullest(some).activationPerMicroBatch);
            const double expected = (double(k) * double(fullest(all).activationPerMicroBatch)
                                        + double(layers - k) * double(fullest(none).activationPerMicroBatch))
                / layers;
            QVERIFY(std::abs(bytes / expected - 1) < 1e-6);
            QVERIFY(bytes < lastBytes);
            QVERIFY(iteration(some) > lastTime);
            QVERIFY(iteration(some) >= iteration(none) && iteration(some) <= iteration(all) * (1 + 1e-9));
            QVERIFY(*some->metrics.hfu >= *some->metrics.mfu);
            lastBytes = bytes;
            lastTime = iteration(some);
        }
        QVERIFY(std::abs(lastTime / iteration(all) - 1) < 1e-9);
    }

    /// A' = A (bits / 16 + 4 / 256), and three passes more each way.
    void fewerBitsTakeLessAndCostPasses()
    {
        const auto kept = evaluated(oneNode());
        double last = keptPerToken(kept);
        for (const int bits : { 8, 4, 2 }) {
            const auto packed = evaluated(with(oneNode(), [=](Plan &p) { p.memory.savedActivationBits = bits; }));
            QVERIFY(std::abs(keptPerToken(packed) / keptPerToken(kept) - (bits / 16.0 + 4.0 / 256)) < 1e-3);
            QVERIFY(keptPerToken(packed) < last);
            QVERIFY(iteration(packed) > iteration(kept));
            QVERIFY(iteration(packed) < 1.4 * iteration(kept));
            last = keptPerToken(packed);
        }
        QCOMPARE(compressedShare(16, 2), 1.0);
    }

    /// Norm and activation outputs at one byte; the attention output keeps its 16-bit copy for fused attention.
    void inputsInEightBits()
    {
        const auto kept = evaluated(oneNode());
        const auto fp8 = evaluated(with(oneNode(), [](Plan &p) { p.memory.fp8Activations = true; }));
        const double saved = keptPerToken(kept) - keptPerToken(fp8);
        const double h = kept->model.hidden, f = kept->model.ffn;
        QVERIFY(std::abs(saved - (2 * h + f - h)) < 1);
        QVERIFY(fullest(fp8).device < fullest(kept).device);
    }

    void flagsOfFullyRecomputedLayersChangeNothing()
    {
        const Plan full = with(oneNode(), [](Plan &p) { p.memory.recompute = Recompute::Full; });
        const auto a = evaluated(full), b = evaluated(with(full, [](Plan &p) {
            p.memory.recomputeNorms = p.memory.recomputeActivationFunction = true;
        }));
        QCOMPARE(fullest(a).device, fullest(b).device);
        QCOMPARE(iteration(a), iteration(b));
    }
};

TRAINYARD_APPLESS_TEST(RecomputeTest)
#include "tst_recompute.moc"
