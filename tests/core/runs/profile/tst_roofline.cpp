// SPDX-License-Identifier: GPL-3.0-or-later
// Kernels by the operators that launched them and the sizes of their tensors: a trace whose figures can be worked out
// by hand, and real ones whose sums have to be plausible.
#include "core/runs/profile/roofline.h"
#include "core/runs/telemetry/recording_file.h"
#include "tests/core/runs/profile/shaped_trace.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

Recording recordingOf(const std::string &text, const SourceOptions &options = withHost())
{
    return readText("rank0.json", text, options).value_or(Recording());
}

Roofline shaped(const std::string &text)
{
    return rooflineOf(recordingOf(text), builtinCatalogue());
}

const RooflineRow *rowOf(const Roofline &roofline, std::string_view operation)
{
    for (const RooflineRow &row : roofline.rows)
        if (row.operation == operation)
            return &row;
    return nullptr;
}

bool isNear(double told, double expected)
{
    return std::abs(told - expected) <= 1e-9 * std::abs(expected);
}

} // namespace

class TestRoofline : public QObject {
    Q_OBJECT
private slots:
    /// The first call of the product takes 30 + 10 µs, the second 24: its two kernels are one call's.
    void kernelsOfOneCallAreOne()
    {
        const Roofline roofline = shaped(shapedTrace());
        const RooflineRow *row = rowOf(roofline, "aten::mm");
        QVERIFY(row);
        QCOMPARE(row->calls, std::int64_t(2));
        QCOMPARE(row->kernels, std::int64_t(3));
        QCOMPARE(row->total, 64'000.0);
        QCOMPARE(row->kernel, std::string("sm90_gemm"));
        QCOMPARE(row->shape, std::string("4096 × 1024 × 2048"));
        const double flops = 2.0 * 4096 * 1024 * 2048, bytes = 2.0 * (4096 * 2048 + 2048 * 1024 + 4096 * 1024);
        QVERIFY(isNear(row->flopsPerSecond(), flops / 32e-6));
        QVERIFY(isNear(row->bytesPerSecond(), bytes / 32e-6));
        QVERIFY(isNear(row->intensity(), flops / bytes));
        QVERIFY(isNear(
            *row->shareOfRoof(), flops / builtinCatalogue().gpu("h100-sxm-80gb")->peakFlops(Precision::Bf16) / 32e-6));
        QVERIFY(isNear(*row->ratio(), 32e-6 / *row->predictedSeconds));
        QVERIFY(!rowOf(roofline, "aten::linear")); // another operator was open inside of it
    }

    void timeIsToldByWhatIsKnownOfIt()
    {
        const Roofline roofline = shaped(shapedTrace());
        QCOMPARE(roofline.gpu->id, std::string("h100-sxm-80gb"));
        QCOMPARE(roofline.rows.size(), std::size_t(3));
        QCOMPARE(roofline.rows[0].operation, std::string("aten::_flash_attention_forward")); // the longest
        QCOMPARE(roofline.total, 250'000.0); // without the collective
        QCOMPARE(roofline.counted, 239'000.0);
        QCOMPARE(roofline.withoutFormula, 5'000.0);
        QCOMPARE(roofline.others.front().operation, std::string("aten::topk"));
        QCOMPARE(roofline.peaks().size(), std::size_t(1));
        // 3 tensors of 8192 × 4096 in 75 µs: memory bound
        const RooflineRow *add = rowOf(roofline, "aten::add_");
        QVERIFY(isNear(*add->shareOfRoof(), 3.0 * 2 * 8192 * 4096 / 75e-6 / (roofline.gpu->memoryGBps * 1e9)));
    }

    void attentionTellsItsMaskAndItsGroups()
    {
        const Roofline roofline = shaped(shapedTrace());
        const RooflineRow *row = rowOf(roofline, "aten::_flash_attention_forward");
        QCOMPARE(row->shape, std::string("2 · 16/4 heads · 1024 × 1024 · 128, causal"));
        QVERIFY(isNear(row->work.flops, 4.0 * 2 * 16 * 128 * (1024 * 1025 / 2)));
    }

    /// Without record_shapes, without the host, without kernels: each is told apart.
    void whatIsMissingIsTold()
    {
        QCOMPARE(int(shaped(shapedTrace(false)).lack), int(RooflineLack::Sizes));
        const Roofline withoutHost = rooflineOf(recordingOf(shapedTrace(), {}), builtinCatalogue());
        QCOMPARE(int(withoutHost.lack), int(RooflineLack::Host));
        QVERIFY(withoutHost.rows.empty());
        QCOMPARE(int(shaped(trace({ sizedOperator("aten::mm", "1", "5", "[[4, 2], [2, 8]]", R"(["float", "float"])") }))
                         .lack),
            int(RooflineLack::Kernels));
        QCOMPARE(int(shaped(trace({ sizedOperator("aten::topk", "1", "9", "[[4, 2]]", R"(["float"])"), call("2", "1"),
                                kernel("k", "20", "4", "1") }))
                         .lack),
            int(RooflineLack::Formulas));
    }

    void anUnknownGpuHasNoRoofUnlessItIsNamed()
    {
        const Recording recording = recordingOf(shapedTrace(true, {}));
        const Roofline unknown = rooflineOf(recording, builtinCatalogue());
        QVERIFY(!unknown.gpu && !unknown.rows.empty());
        QVERIFY(!unknown.rows[0].shareOfRoof() && !unknown.rows[0].ratio());
        QVERIFY(unknown.rows[0].flopsPerSecond() > 0);
        const Roofline named = rooflineOf(recording, builtinCatalogue(), builtinCatalogue().gpu("a100-sxm-80gb"));
        QVERIFY(*named.rows[0].shareOfRoof() > *shaped(shapedTrace()).rows[0].shareOfRoof()); // a lower roof
    }

    /// Triton's operators stand on a stream of their own; the compiled graph around them is no operator of theirs.
    void operatorsOfTritonAreFoundBesideTheirThread()
    {
        const std::string fused = span("cpu_op", "triton_poi_fused_add_0", "10", "8",
            R"("stream": 7, "Input Dims": [[64, 32], [64, 32]], "Input type": ["float", "float"])", "1");
        const Roofline roofline = shaped(
            trace({ sizedOperator("CompiledFunction", "1", "50", "[[9, 9]]", R"(["float"])"), fused, call("12", "1"),
                kernel("triton_poi_fused_add_0", "30", "4", "1"), call("40", "2"), kernel("memset", "60", "3", "2") }));
        QCOMPARE(roofline.rows.size(), std::size_t(1));
        QCOMPARE(roofline.rows[0].operation, std::string("triton_poi_fused_add_0"));
        QCOMPARE(roofline.rows[0].work.bytes, 2.0 * 4 * 64 * 32);
        QCOMPARE(roofline.others.front().operation, std::string("CompiledFunction"));
        // They alone are kept where the host is not read
        const Recording without = recordingOf(trace({ fused, call("12", "1"), kernel("k", "30", "4", "1") }), {});
        QCOMPARE(int(rooflineOf(without, builtinCatalogue()).lack), int(RooflineLack::Host));
    }

    /// Products of 32 bits are on tensor cores where their kernel says so.
    void kernelsOfTensorFloatAreHeldToTheirPeak()
    {
        const auto of = [](const char *name) {
            return shaped(
                trace({ sizedOperator("aten::mm", "1", "9", "[[512, 512], [512, 512]]", R"(["float", "float"])"),
                    call("2", "1"), kernel(name, "20", "40", "1") }))
                .rows.front()
                .work.precision;
        };
        QCOMPARE(int(of("ampere_sgemm_128x64_nn")), int(Precision::Fp32));
        QCOMPARE(int(of("cutlass_80_tensorop_s1688gemm_128x64_16x6_nn")), int(Precision::Tf32));
        QCOMPARE(int(of("sm90_xmma_gemm_f32f32_tf32f32_f32_tn")), int(Precision::Tf32));
    }

    /// Saved with its host, a recording tells the same.
    void aSavedRecordingTellsTheSame()
    {
        const Recording recording = recordingOf(shapedTrace());
        const QTemporaryDir folder;
        const std::string path = folder.filePath("saved.trainyard-recording").toStdString();
        QVERIFY(writeRecording(recording, path));
        const auto read = readSource(path, {});
        QVERIFY(read.has_value());
        const Roofline before = rooflineOf(recording, builtinCatalogue()),
                       after = rooflineOf(*read, builtinCatalogue());
        QCOMPARE(after.rows.size(), before.rows.size());
        QCOMPARE(after.rows[1].shape, before.rows[1].shape);
        QCOMPARE(after.rows[1].total, before.rows[1].total);
    }

    /// Of a rank of Megatron-LM on A100 (MIT, astra-sim): no product is above the roof, and the model is near.
    void aRealRunStaysBelowItsRoof()
    {
        if (!hasShared())
            return;
        const auto recording =
            readSource(TRAINYARD_SHARED_DIR "/traces/megatron_tp8_a100_8rank/megatron_kineto_0.json.gz", withHost());
        QVERIFY(recording.has_value());
        const Roofline roofline = rooflineOf(*recording, builtinCatalogue());
        QCOMPARE(roofline.gpu->id, std::string("a100-sxm-80gb"));
        QVERIFY(roofline.counted > 0.6 * roofline.total);
        QVERIFY(roofline.counted + roofline.withoutFormula <= roofline.total);
        double measured = 0, predicted = 0;
        for (const RooflineRow &row : roofline.rows) {
            if (row.work.kind != OperationKind::Product)
                continue;
            QVERIFY2(*row.shareOfRoof() <= 1, row.shape.c_str());
            measured += row.total * 1e-9;
            predicted += *row.predictedSeconds * double(row.calls);
        }
        QVERIFY2(std::abs(measured / predicted - 1) < 0.1, qPrintable(QString::number(measured / predicted)));
    }
};

TRAINYARD_APPLESS_TEST(TestRoofline)
#include "tst_roofline.moc"
