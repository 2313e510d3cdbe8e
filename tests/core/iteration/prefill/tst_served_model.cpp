// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/workload/model_math.h"
#include "core/iteration/prefill/served_model.h"
#include "tests/support/catalogued.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>

using namespace trainyard;
using test::gpu;
using test::model;

namespace {

const Link kFast { gbytesPerSecond(1e6), &builtinNetwork().fabric };

} // namespace

class TestServedModel : public QObject {
    Q_OBJECT

private slots:
    void flopsAreThoseOfTheParametersAndOfCausalAttention()
    {
        // 2 N L + 2 layers L^2 a d; Llama 3 8B: 32 layers, 32 heads of 128
        const double n = totalParameters(model("llama-3-8b")), tokens = 2048;
        QCOMPARE(prefillFlops(model("llama-3-8b"), tokens).value, 2 * n * tokens + 2 * 32 * tokens * tokens * 4096);
    }

    void keysAndValuesOfLlama8bAre128KibiBytesAToken()
    {
        QCOMPARE(kvCacheBytes(model("llama-3-8b"), 1).value, 131072.0);
    }

    void weightsOfEightGpusAreTwoGigabytesEach()
    {
        QVERIFY(std::abs(servedWeights(model("llama-3-8b")).value / 8 - 2e9) < 0.05e9);
    }

    void anExpertModelServesAllItsWeightsButComputesWithFew()
    {
        const ModelSpec &mixtral = model("mixtral-8x7b");
        QCOMPARE(servedWeights(mixtral).value, 2 * totalParameters(mixtral));
        QVERIFY(prefillFlops(mixtral, 1).value < servedWeights(mixtral).value / 2);
        QVERIFY(prefillTime(gpu("h100-sxm-80gb"), mixtral, 2048)
            < prefillTime(gpu("h100-sxm-80gb"), model("llama-3-70b"), 2048));
    }

    void theRateIsBelowThePeakAndGrowsWithThePrompt()
    {
        for (const char *id : { "a100-sxm-80gb", "h100-sxm-80gb" }) {
            double before = 0;
            for (const double tokens : { 64.0, 512.0, 4096.0 }) {
                const double rate = prefillRate(gpu(id), model("llama-3-8b"), tokens).value;
                QVERIFY(rate > before && rate < gpu(id).peakFlops(Precision::Bf16));
                before = rate;
            }
            QVERIFY(before > 0.5 * gpu(id).peakFlops(Precision::Bf16));
        }
    }

    void slicesShareThePrompt()
    {
        // d = tpf / p; KV / p a GPU; hop = 2 L h / bandwidth, with the start of a send
        const GpuSpec &h100 = gpu("h100-sxm-80gb");
        const double whole = prefillTime(h100, model("llama-3-8b"), 4096).value;
        for (const int stages : { 1, 2, 8 }) {
            const SliceTime slice = sliceTime(h100, model("llama-3-8b"), stages, 4096, kFast, kFast);
            QVERIFY(std::abs(toSeconds(slice.compute).value * stages - whole) < 1e-8 * stages);
            QCOMPARE(slice.hop > 0, stages > 1);
        }
        const Link slow { gbytesPerSecond(1), &builtinNetwork().fabric };
        const SliceTime slice = sliceTime(h100, model("llama-3-8b"), 8, 4096, slow, kFast);
        QVERIFY(toSeconds(slice.hop).value >= 2.0 * 4096 * 4096 / 1e9);
        QVERIFY(toSeconds(slice.hop).value < 2 * 2.0 * 4096 * 4096 / 1e9);
        QVERIFY(toSeconds(sliceTime(h100, model("llama-3-8b"), 8, 4096, kFast, slow).kvMove).value
            >= 131072.0 * 4096 / 8 / 1e9);
    }

    void latentAttentionKeepsLess()
    {
        QVERIFY(kvCacheBytes(model("deepseek-v3"), 1).value < kvCacheBytes(model("llama-3-70b"), 1).value / 4);
    }
};

TRAINYARD_APPLESS_TEST(TestServedModel)
#include "tst_served_model.moc"
