// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry idle`, `queue`, `kernels`, `roofline` and `path`, run as a script would run them.

#include "tests/app/cli/program.h"
#include "tests/core/runs/profile/shaped_trace.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

using nlohmann::json;
using namespace trainyard::test;

namespace {

/// A kernel of stream 7 in microseconds, with its launch.
std::string launched(int id, const char *name, int start, int duration, int launch, int grid)
{
    const std::string call = R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, )";
    const std::string kernel = R"({"ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "name": ")";
    const std::string correlation = R"("correlation": )" + std::to_string(id);
    return call + R"("ts": )" + std::to_string(launch) + R"(, "dur": 1, "args": {)" + correlation + "}},\n" + kernel
        + name + R"(", "ts": )" + std::to_string(start) + R"(, "dur": )" + std::to_string(duration)
        + R"(, "args": {"device": 0, "stream": 7, "grid": [)" + std::to_string(grid)
        + R"(, 1, 1], "block": [64, 1, 1], )" + correlation + "}}";
}

/// [100, 140), [140, 150), [170, 190) µs, the last launched at 160; the first takes `added` longer.
std::string traceOf(int added)
{
    return R"({"schemaVersion": 1, "traceEvents": [)" + launched(1, "gemm", 100, 40 + added, 90, 4) + ",\n"
        + launched(2, "add", 140 + added, 10, 95, 8) + ",\n" + launched(3, "gemm", 170 + added, 20, 160 + added, 4)
        + "]}";
}

} // namespace

class TestProfile : public QObject {
    Q_OBJECT

private slots:
    void idleTimeIsToldByItsCause()
    {
        const QString file = written(QStringLiteral("rank2.json"), traceOf(0));
        const json all = jsonOf({ "idle", file });
        QCOMPARE(all.at("kernel_delay_ns").get<int>(), 30);
        const json &rank = all.at("ranks").at(0), &whole = rank.at("whole"), &stream = rank.at("streams").at(0);
        QCOMPARE(rank.at("rank").get<int>(), 2);
        QCOMPARE(whole.at("busy_ns").get<int>(), 70'000);
        QCOMPARE(whole.at("idle_ns").get<int>(), 20'000);
        QCOMPARE(whole.at("host_wait_ns").get<int>(), 20'000);
        QVERIFY(whole.at("stream").is_null());
        QCOMPARE(stream.at("stream").get<int>(), 7);
        const Answer table = telemetry({ "idle", file });
        QCOMPARE(table.exitCode, 0);
        QVERIFY2(table.out.find("host wait") != std::string::npos && table.out.find("20.0 µs") != std::string::npos,
            table.out.c_str());
    }

    void theQueueIsToldOverItsTime()
    {
        // Launched at 90, 95, 160, started at 100, 140, 170: of 80 µs 20 without a queue
        const json whole = jsonOf({ "queue", written(QStringLiteral("rank0.json"), traceOf(0)), "--buckets", "8" })
                               .at("ranks")
                               .at(0)
                               .at("whole");
        QCOMPARE(whole.at("length_ns").get<int>(), 80'000);
        QCOMPARE(whole.at("share_empty").get<double>(), 0.25);
        QCOMPARE(whole.at("mean").get<double>(), (10.0 + 45 + 10) / 80);
        QCOMPARE(whole.at("most").get<int>(), 2);
        QCOMPARE(whole.at("over_time").at("mean"), json({ 1.5, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0 }));
    }

    void kernelsAreToldByNameAndShape()
    {
        const QString file = written(QStringLiteral("rank0.json"), traceOf(0));
        const json all = jsonOf({ "kernels", file });
        QCOMPARE(all.at("total_ns").get<double>(), 70'000.0);
        const json &first = all.at("kernels").at(0);
        QCOMPARE(first.at("name").get<std::string>(), std::string("gemm"));
        QCOMPARE(first.at("shape").get<std::string>(), std::string("[4, 1, 1] × [64, 1, 1]"));
        QCOMPARE(first.at("count").get<int>(), 2);
        QCOMPARE(first.at("total_ns").get<double>(), 60'000.0);
        QCOMPARE(all.at("kinds").at("compute").at("count").get<int>(), 3);
        QCOMPARE(jsonOf({ "kernels", file, "--top", "1" }).at("kernels").size(), std::size_t(1));
    }

    void whatBecameOfKernelsIsTold()
    {
        const QString before = written(QStringLiteral("rank0_before.json"), traceOf(0)),
                      after = written(QStringLiteral("rank0_after.json"), traceOf(8));
        const json all = jsonOf({ "kernels", after, "--against", before });
        QCOMPARE(all.at("after_ns").get<double>() - all.at("before_ns").get<double>(), 8'000.0);
        const json &first = all.at("kernels").at(0);
        QCOMPARE(first.at("change").get<std::string>(), std::string("longer"));
        QCOMPARE(first.at("difference_ns").get<double>(), 8'000.0);
        QCOMPARE(all.at("kernels").at(1).at("change").get<std::string>(), std::string("same"));
        const Answer table = telemetry({ "kernels", after, "--against", before });
        QVERIFY2(table.out.find("+8.00 µs") != std::string::npos, table.out.c_str());
    }

    /// Two calls of a product in 64 µs; attention in 100, an addition in 75.
    void operatorsAreHeldToTheRoofAndToTheModel()
    {
        const QString file = written(QStringLiteral("rank0.json"), trainyard::testing::shapedTrace());
        const json all = jsonOf({ "roofline", file });
        QCOMPARE(all.at("gpu").get<std::string>(), std::string("h100-sxm-80gb"));
        QCOMPARE(all.at("total_ns").get<double>(), 250'000.0);
        QCOMPARE(all.at("counted_ns").get<double>(), 239'000.0);
        QCOMPARE(all.at("others").at(0).at("operator").get<std::string>(), std::string("aten::topk"));
        const json &product = all.at("operators").at(2);
        QCOMPARE(product.at("operator").get<std::string>(), std::string("aten::mm"));
        QCOMPARE(product.at("shape").get<std::string>(), std::string("4096 × 1024 × 2048"));
        QCOMPARE(product.at("precision").get<std::string>(), std::string("bf16"));
        QCOMPARE(product.at("calls").get<int>(), 2);
        QCOMPARE(product.at("kernels").get<int>(), 3);
        QCOMPARE(product.at("flops").get<double>(), 2.0 * 4096 * 1024 * 2048);
        QCOMPARE(product.at("bytes").get<double>(), 2.0 * (4096 * 2048 + 2048 * 1024 + 4096 * 1024));
        const double seconds = 32e-6, share = product.at("share_of_roof").get<double>();
        QVERIFY(std::abs(share * seconds / product.at("roof_s").get<double>() - 1) < 1e-9);
        QVERIFY(share > 0.5 && share < 0.6); // 537 of 989 TFLOP/s
        QVERIFY(std::abs(product.at("measured_to_predicted").get<double>() * product.at("predicted_s").get<double>()
                        / seconds
                    - 1)
            < 1e-9);
        const Answer table = telemetry({ "roofline", file, "--top", "1" });
        QCOMPARE(table.exitCode, 0);
        QVERIFY2(table.out.find("_flash_attention_forward") != std::string::npos
                && table.out.find("… and 2 more") != std::string::npos
                && table.out.find("NVIDIA H100 SXM 80 GB") != std::string::npos,
            table.out.c_str());
    }

    void whatTellsNoSizesSaysHowTheyAreRecorded()
    {
        const QString file = written(QStringLiteral("rank0.json"), trainyard::testing::shapedTrace(false));
        const Answer answer = telemetry({ "roofline", file });
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(answer.err.contains("record_shapes=True"), qPrintable(answer.err));
        const QString unknown = written(QStringLiteral("rank1.json"), trainyard::testing::shapedTrace(true, {}));
        QVERIFY(jsonOf({ "roofline", unknown }).at("operators").at(0).at("share_of_roof").is_null());
        QCOMPARE(jsonOf({ "roofline", unknown, "--gpu", "a100-sxm-80gb" }).at("gpu").get<std::string>(),
            std::string("a100-sxm-80gb"));
        QCOMPARE(telemetry({ "roofline", unknown, "--gpu", "abacus" }).exitCode, 2);
    }

    /// The last kernel from its launch on; before it the host, which waited for nothing.
    void theStepIsFollowedFromItsEnd()
    {
        const QString file = written(QStringLiteral("rank0.json"), traceOf(0));
        const json all = jsonOf({ "path", file });
        QCOMPARE(all.at("length_ns").get<int>(), 90'000);
        QCOMPARE(all.at("kinds").at("compute").get<int>(), 20'000);
        QCOMPARE(all.at("kinds").at("launch").get<int>(), 10'000);
        QCOMPARE(all.at("kinds").at("host").get<int>(), 60'000);
        QCOMPARE(all.at("pieces").size(), std::size_t(3));
        QCOMPARE(telemetry({ "path", file, "--step", "7" }).exitCode, 2);
    }

    /// A call that synchronises tells that the host waited, where calls of the host are kept.
    void callsOfTheHostAreKeptOnDemand()
    {
        std::string text = traceOf(0);
        text.insert(text.rfind("]}"),
            R"(,{"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 1, "tid": 1, "ts": 120, "dur": 32})");
        const QString file = written(QStringLiteral("rank0.json"), text);
        QCOMPARE(jsonOf({ "path", file }).at("kinds").at("host").get<int>(), 60'000);
        const json kinds = jsonOf({ "path", file, "--host" }).at("kinds");
        QCOMPARE(kinds.at("host").get<int>(), 10'000);
        QCOMPARE(kinds.at("compute").get<int>(), 70'000);
    }

    void whatShowsNoKernelIsAFault()
    {
        const QString file = written(QStringLiteral("rank0.json"), R"({"schemaVersion": 1, "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 0, "tid": 7, "ts": 1, "dur": 4}]})");
        for (const char *command : { "idle", "queue", "kernels", "roofline", "path" })
            QCOMPARE(telemetry({ command, file }).exitCode, 2);
    }

private:
    static Answer telemetry(const QStringList &arguments) { return run(QStringList { "telemetry" } + arguments); }
    static json jsonOf(const QStringList &arguments)
    {
        const Answer answer = telemetry(arguments + QStringList { "--format", "json" });
        return answer.exitCode == 0 ? json::parse(answer.out) : json(answer.err.toStdString());
    }
    QString written(const QString &name, const std::string &text)
    {
        QFile file(m_folder.filePath(name));
        if (file.open(QIODevice::WriteOnly))
            file.write(text.c_str());
        return file.fileName();
    }

    QTemporaryDir m_folder;
};

TRAINYARD_GUILESS_TEST(TestProfile)
#include "tst_profile.moc"
