// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/catalogue/parse.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>

using namespace trainyard;

class ParseTest : public QObject {
    Q_OBJECT

private slots:
    void everyCatalogueGpuSurvivesARoundTrip();
    void everyCatalogueModelSurvivesARoundTrip();
    void anInlineGpuNeedsThreeFigures();
    void anInlineGpuReportsEveryFault();
    void anInlineModelOfTheContractIsRead();
    void anInlineModelReportsEveryFault();
    void aStackTakesOverridesAndKnowsItsFields();
    void aSlowerStackTakesLongerInAllThatComputesAndNothingElse();
};

void ParseTest::everyCatalogueGpuSurvivesARoundTrip()
{
    for (const GpuSpec &gpu : builtinCatalogue().gpus) {
        const auto again = parseGpu(formatGpu(gpu), "test");
        QVERIFY2(again.has_value(), again ? "" : toString(again.error().front()).c_str());
        QVERIFY2(*again == gpu, gpu.id.c_str());
    }
}

void ParseTest::everyCatalogueModelSurvivesARoundTrip()
{
    for (const ModelSpec &model : builtinCatalogue().models) {
        const auto again = parseModel(formatModel(model), "test");
        QVERIFY2(again.has_value(), again ? "" : toString(again.error().front()).c_str());
        QVERIFY2(*again == model, model.id.c_str());
    }
}

void ParseTest::anInlineGpuNeedsThreeFigures()
{
    const auto gpu =
        parseGpu(R"({"peak_tflops": {"bf16": 100}, "memory_gib": 24, "memory_gbytes_per_s": [500, "own measurement"]})",
            "plan.json: /gpu");
    QVERIFY(gpu.has_value());
    QCOMPARE(gpu->memoryBytes, std::int64_t { 24 } << 30);
    QCOMPARE(gpu->sources.at("memory_gbytes_per_s"), "own measurement");
    QVERIFY(gpu->gemm.evidence == KernelEvidence::SpecSheet);
}

void ParseTest::anInlineGpuReportsEveryFault()
{
    const auto gpu =
        parseGpu(R"({"peak_tflops": {"bf61": 100}, "memory_gib": -1, "link_domain": "eight"})", "plan.json: /gpu");
    QVERIFY(!gpu.has_value());
    QStringList messages;
    for (const Error &error : gpu.error())
        messages << QString::fromStdString(toString(error));
    QVERIFY(messages.contains("plan.json: /gpu/peak_tflops/bf61: unknown key bf61; expected perhaps bf16"));
    QVERIFY(messages.contains("plan.json: /gpu/memory_gib: memory_gib is -1; expected a number from 0.5 to 100000"));
    QVERIFY(messages.contains("plan.json: /gpu/memory_gbytes_per_s: memory_gbytes_per_s is missing; expected memory "
                              "bandwidth, 10^9 bytes per second"));
    QVERIFY(messages.contains(
        "plan.json: /gpu/link_domain: link_domain is \"eight\"; expected a number, or [number, \"source\"]"));
}

void ParseTest::anInlineModelOfTheContractIsRead()
{
    const auto model = parseModel(
        R"({"layers": 4, "hidden": 512, "heads": 8, "kv_heads": 2, "head_dim": 64, "ffn": 1408, "vocab": 1000,
        "gated_ffn": true, "tied_embeddings": false, "attention": "gqa", "experts": 8, "experts_per_token": 2, "expert_ffn": 256,
        "shared_expert_ffn": 512, "dense_layers": 1})",
        "plan.json: /workload/model");
    QVERIFY(model.has_value());
    QCOMPARE(model->kvHeads, 2);
    QVERIFY(model->isMoe() && model->gatedFfn && !model->isExpertLayer(0) && model->isExpertLayer(1));
    const auto latent =
        parseModel(R"({"layers": 4, "hidden": 512, "heads": 8, "ffn": 1408, "vocab": 1000, "attention": "mla",
        "latent": {"kv_rank": 64, "nope_dim": 32, "rope_dim": 16, "value_dim": 32}})",
            "plan.json: /workload/model");
    QVERIFY(latent.has_value());
    QVERIFY(latent->attention == AttentionKind::Latent && latent->latent.queryRank == 0);
}

void ParseTest::anInlineModelReportsEveryFault()
{
    const auto model = parseModel(R"({"layers": 0, "hidden": 512, "heads": 8, "kv_heads": 3, "attention": "flash"})",
        "plan.json: /workload/model");
    QVERIFY(!model.has_value());
    QStringList messages;
    for (const Error &error : model.error())
        messages << QString::fromStdString(toString(error));
    QVERIFY(
        messages.contains("plan.json: /workload/model/layers: layers is 0; expected a whole number from 1 to 10000"));
    QVERIFY(messages.contains("plan.json: /workload/model/vocab: vocab is missing; expected a whole number above 0"));
    QVERIFY(messages.contains("plan.json: /workload/model/ffn: ffn is missing; expected the inner size of the MLP"));
    QVERIFY(messages.contains(
        "plan.json: /workload/model/kv_heads: kv_heads 3 does not divide heads 8; expected a divisor of heads"));
    QVERIFY(messages.contains("plan.json: /workload/model/attention: attention is \"flash\"; expected grouped (also "
                              "mha, gqa, mqa) or latent (also mla)"));
}

void ParseTest::aStackTakesOverridesAndKnowsItsFields()
{
    const StackSpec &base = *builtinCatalogue().stack("fsdp");
    const auto changed = withOverrides(base, { { "flash_attention", 0 }, { "fragmentation", 1.25 } });
    QVERIFY(changed.has_value());
    QVERIFY(!changed->flashAttention);
    QCOMPARE(changed->fragmentation, 1.25);
    QCOMPARE(changed->gradientBytes, base.gradientBytes);
    const auto misspelt = withOverrides(base, { { "fragmentaton", 1.25 } });
    QCOMPARE(
        toString(misspelt.error()), "stack.fragmentaton: unknown key fragmentaton; expected perhaps fragmentation");
    QVERIFY(std::ranges::find(stackKeys(), "host_us_per_kernel") != stackKeys().end());
}

void ParseTest::aSlowerStackTakesLongerInAllThatComputesAndNothingElse()
{
    // Time figures times t, speeds over t; what a stack overlaps, keeps and stores stays.
    const StackSpec &base = *builtinCatalogue().stack("megatron-core");
    const StackSpec slow = slowedBy(base, 1.25);
    QVERIFY(std::abs(slow.hostUsPerKernel - 1.25 * base.hostUsPerKernel) < 1e-12);
    QVERIFY(std::abs(slow.elementwisePasses - 1.25 * base.elementwisePasses) < 1e-12);
    QVERIFY(std::abs(slow.iterationOverheadMs - 1.25 * base.iterationOverheadMs) < 1e-12);
    QVERIFY(std::abs(slow.kernelEfficiency * 1.25 - base.kernelEfficiency) < 1e-12);
    QVERIFY(std::abs(slow.narrowEfficiency * 1.25 - base.narrowEfficiency) < 1e-12);
    QCOMPARE(slow.tensorOverlap, base.tensorOverlap);
    QCOMPARE(slow.fragmentation, base.fragmentation);
    QCOMPARE(slow.logitsBytesPerElement, base.logitsBytesPerElement);
    QVERIFY(slowedBy(base, 1) == base);
}

TRAINYARD_APPLESS_TEST(ParseTest)
#include "tst_parse.moc"
