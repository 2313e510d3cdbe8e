// SPDX-License-Identifier: GPL-3.0-or-later
// What operators compute and move, by closed forms that can be worked out by hand.
#include "core/facts/catalogue/catalogue.h"
#include "core/runs/profile/operation_work.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;

namespace {

OperationWork workOfText(std::string_view name, std::string_view arguments)
{
    const auto work = workOf(name, readTensorArguments(arguments));
    return work.value_or(OperationWork { .flops = -1 });
}

bool isKnown(std::string_view name, std::string_view arguments)
{
    return workOf(name, readTensorArguments(arguments)).has_value();
}

} // namespace

class TestOperationWork : public QObject {
    Q_OBJECT
private slots:
    /// 2mnk and (mk + kn + mn) elements of two bytes
    void aProductComputesAndMovesByItsThreeSizes()
    {
        const double m = 4096, n = 1024, k = 2048;
        const OperationWork work = workOfText("aten::mm", "bf16[4096, 2048], bf16[2048, 1024]");
        QCOMPARE(int(work.kind), int(OperationKind::Product));
        QCOMPARE(work.flops, 2 * m * n * k);
        QCOMPARE(work.bytes, 2 * (m * k + k * n + m * n));
        QCOMPARE(work.product.m, m);
        QCOMPARE(work.product.n, n);
        QCOMPARE(work.product.k, k);
        QCOMPARE(int(work.precision), int(Precision::Bf16));
    }

    void whatAProductIsAddedToIsReadAsWell()
    {
        const OperationWork plain = workOfText("aten::mm", "f16[64, 32], f16[32, 16]"),
                            added = workOfText("aten::addmm", "f16[16], f16[64, 32], f16[32, 16], -, -");
        QCOMPARE(added.flops, plain.flops);
        QCOMPARE(added.bytes, plain.bytes + 2 * 16);
    }

    /// b products side by side; those of 8 bits write 16
    void productsComeInBatchesAndInEightBits()
    {
        const OperationWork batched = workOfText("aten::bmm", "f32[12, 8, 4], f32[12, 4, 6]");
        QCOMPARE(batched.flops, 12.0 * 2 * 8 * 6 * 4);
        QCOMPARE(batched.bytes, 12.0 * 4 * (8 * 4 + 4 * 6 + 8 * 6));
        const OperationWork eight = workOfText("aten::_scaled_mm", "f8e4m3[64, 32], f8e4m3[32, 16], f32[], f32[]");
        QCOMPARE(eight.bytes, 64.0 * 32 + 32 * 16 + 2 * 64 * 16);
        QCOMPARE(int(eight.precision), int(Precision::Fp8));
    }

    /// All rows together multiply once; each expert's weights are read.
    void groupedProductsShareTheirRows()
    {
        const OperationWork work = workOfText("aten::_grouped_mm", "bf16[1024, 64], bf16[8, 64, 32], i32[8]");
        QCOMPARE(work.flops, 2.0 * 1024 * 64 * 32);
        QCOMPARE(work.bytes, 2.0 * (1024 * 64 + 8 * 64 * 32 + 1024 * 32));
        QCOMPARE(work.groups, 8.0);
        QCOMPARE(work.product.m, 128.0);
    }

    /// Two products forward, five backward, of heads of d elements: 4 and 10 FLOPs a pair and element.
    void attentionIsCountedByThePairsThatMeet()
    {
        const char *tensors =
            "bf16[2, 1024, 16, 128], bf16[2, 1024, 16, 128], bf16[2, 1024, 16, 128], -, -, 1024, 1024, 0., ";
        const double heads = 2 * 16, s = 1024, d = 128, tensor = 2.0 * heads * s * d;
        const OperationWork full = workOfText("aten::_flash_attention_forward", std::string(tensors) + "False, False");
        QCOMPARE(full.flops, 4 * heads * s * s * d);
        QCOMPARE(full.bytes, 4 * tensor);
        // A query sees itself and what is before it: s(s + 1)/2 pairs
        const OperationWork causal = workOfText("aten::_flash_attention_forward", std::string(tensors) + "True, False");
        QCOMPARE(causal.flops, 4 * heads * s * (s + 1) / 2 * d);
        const OperationWork backward = workOfText("aten::_flash_attention_backward",
            "bf16[2, 1024, 16, 128], bf16[2, 1024, 16, 128], bf16[2, 1024, 16, 128], bf16[2, 1024, 16, 128], "
            "bf16[2, 1024, 16, 128], f32[2, 16, 1024], -, -, 1024, 1024, 0., False");
        QVERIFY(backward.isBackward);
        QCOMPARE(backward.flops, 2.5 * full.flops);
        QCOMPARE(backward.bytes, 8 * tensor); // five read, three written
    }

    /// Few queries at the end of many keys; heads before tokens; keys of fewer heads.
    void attentionKnowsItsLayoutsAndItsGroups()
    {
        const OperationWork work = workOfText("aten::_scaled_dot_product_cudnn_attention",
            "bf16[1, 32, 4, 128], bf16[1, 8, 100, 128], bf16[1, 8, 100, 128], -, False, 0., True");
        QCOMPARE(work.attention.heads, 32.0);
        QCOMPARE(work.attention.kvHeads, 8.0);
        QCOMPARE(work.flops, 4.0 * 32 * (97 + 98 + 99 + 100) * 128);
        QCOMPARE(work.bytes, 2.0 * 128 * (2 * 32 * 4 + 2 * 8 * 100));
        // Packed sequences, whose lengths no size tells
        QVERIFY(!isKnown("aten::_flash_attention_forward",
            "bf16[1, 1024, 16, 128], bf16[1, 1024, 16, 128], bf16[1, 1024, 16, 128], i32[5], i32[5], 300, 300, 0., "
            "True"));
    }

    void operatorsByElementMoveTheirTensors()
    {
        const double size = 64 * 32;
        QCOMPARE(workOfText("aten::add", "bf16[64, 32], bf16[64, 32], -").bytes, 3 * 2 * size);
        QCOMPARE(workOfText("aten::add_", "bf16[64, 32], bf16[32], -").bytes, 2 * 2 * size + 2 * 32);
        QCOMPARE(workOfText("aten::add", "bf16[64, 32], bf16[64, 32], -").flops, size);
        QCOMPARE(workOfText("aten::gt", "f32[64, 32], -").bytes, 5 * size);
        QCOMPARE(workOfText("aten::copy_", "bf16[64, 32], f32[64, 32], -").bytes, 6 * size);
        QCOMPARE(workOfText("aten::copy_", "bf16[64, 32], f32[64, 32], -").flops, 0.0);
        QCOMPARE(workOfText("aten::fill_", "f32[64, 32], -").bytes, 4 * size);
        QCOMPARE(workOfText("aten::sum", "f32[64, 32], -").bytes, 4 * size);
        QCOMPARE(
            workOfText("triton_poi_fused_add_silu_0", "f32[64, 32], f32[64, 32], f32[64, 32], -").bytes, 12 * size);
    }

    void whatNoFormulaHoldsForIsNotCounted()
    {
        QVERIFY(!isKnown("aten::topk", "f32[64, 32], -"));
        QVERIFY(!isKnown("aten::mm", "bf16[4, 2], bf16[3, 8]")); // they do not fit each other
        QVERIFY(!isKnown("aten::mm", "i64[4, 2], i64[2, 8]"));
        QVERIFY(!isKnown("aten::mm", "bf16[0, 2], bf16[2, 8]"));
        QVERIFY(!isKnown("aten::mm", "bf16[4, 2]"));
        QVERIFY(!isKnown("aten::add", "-, -"));
        QVERIFY(!isKnown("aten::add", "mystery[4, 2], f32[4, 2]"));
        QVERIFY(!isKnown("triton_poi_fused_embedding_0", "i64[8], bf16[50000, 64], bf16[8, 64]"));
        QVERIFY(!isKnown("vllm::moe_forward", "bf16[64, 32]"));
    }

    void shapesReadAsTheyAreSaid()
    {
        const auto said = [](const char *name, const char *text) {
            const std::vector<TensorArgument> arguments = readTensorArguments(text);
            const auto work = workOf(name, arguments);
            return work ? shapeText(*work, arguments) : std::string();
        };
        QCOMPARE(said("aten::mm", "bf16[4096, 2048], bf16[2048, 1024]"), std::string("4096 × 1024 × 2048"));
        QCOMPARE(said("aten::bmm", "f32[12, 8, 4], f32[12, 4, 6]"), std::string("12 · 8 × 6 × 4"));
        QCOMPARE(said("aten::_scaled_dot_product_flash_attention",
                     "bf16[2, 32, 512, 128], bf16[2, 8, 512, 128], bf16[2, 8, 512, 128], 0., True"),
            std::string("2 · 32/8 heads · 512 × 512 · 128, causal"));
        QCOMPARE(said("aten::add_", "bf16[64, 32], bf16[32], -"), std::string("bf16[64, 32], bf16[32]"));
    }

    /// The plan's kernel model at its sustained clock, and never above the roof.
    void theModelOfThePlanIsAskedForTheSameShape()
    {
        const Catalogue &catalogue = builtinCatalogue();
        const GpuSpec &gpu = *catalogue.gpu("h100-sxm-80gb");
        const SustainedRates rates = sustainedRates(catalogue.sustained, gpu);
        const OperationWork product = workOfText("aten::mm", "bf16[8192, 4096], bf16[4096, 4096]");
        QCOMPARE(predictedSeconds(gpu, rates, product),
            gemmTime(gpu, Precision::Bf16, { 8192, 4096, 4096 }).value / rates.half);
        QVERIFY(predictedSeconds(gpu, rates, product) > roofSeconds(gpu, product));
        QCOMPARE(roofSeconds(gpu, product), product.flops / gpu.peakFlops(Precision::Bf16));
        const OperationWork add = workOfText("aten::add", "bf16[8192, 8192], bf16[8192, 8192], -");
        QCOMPARE(roofSeconds(gpu, add), add.bytes / (gpu.memoryGBps * 1e9));
        QVERIFY(predictedSeconds(gpu, rates, add) > roofSeconds(gpu, add));
        const OperationWork attention = workOfText("aten::_scaled_dot_product_flash_attention",
            "bf16[2, 32, 4096, 128], bf16[2, 8, 4096, 128], bf16[2, 8, 4096, 128], 0., True");
        QCOMPARE(predictedSeconds(gpu, rates, attention),
            attentionForward(gpu, Precision::Bf16, attention.attention).value / rates.attention);
        QVERIFY(predictedSeconds(gpu, rates, attention) > roofSeconds(gpu, attention));
    }
};

TRAINYARD_APPLESS_TEST(TestOperationWork)
#include "tst_operation_work.moc"
