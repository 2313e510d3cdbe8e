// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry summarize`, run as a script would run it.

#include "tests/app/cli/program.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

using nlohmann::json;
using namespace trainyard::test;

namespace {

Answer summarize(const QStringList &arguments)
{
    return run(QStringList { "telemetry", "summarize" } + arguments);
}

} // namespace

class TestTelemetry : public QObject {
    Q_OBJECT

private slots:
    void aTraceIsSummarised()
    {
        const QString file = written(QStringLiteral("rank2_trace.json"), R"({"schemaVersion": 1, "traceEvents": [
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 100, "dur": 40, "args": {"stream": 7}},
  {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "pid": 0, "tid": 9, "ts": 130,
    "dur": 40, "args": {"stream": 9}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH", "pid": 0, "tid": 7, "ts": 190, "dur": 10,
    "args": {"stream": 7}}]})");
        const Answer answer = summarize({ file, "--format", "json" });
        QCOMPARE(answer.exitCode, 0);
        const json rank = json::parse(answer.out).at("ranks").at(0);
        QVERIFY(rank.at("rank") == 2);
        QVERIFY(rank.at("kernel_time_us") == 100);
        QVERIFY(rank.at("compute_us") == 40);
        QVERIFY(rank.at("idle_us") == 20);
        QVERIFY(rank.at("non_compute_us") == 40);
        QVERIFY(rank.at("communication_overlap") == 0.25);
        const Answer table = summarize({ file });
        QCOMPARE(table.exitCode, 0);
        QVERIFY(table.out.find("25.00") != std::string::npos);
    }

    void whatIsNoGpusTimeIsNull()
    {
        const QString file = written(QStringLiteral("a.json"),
            R"({"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 0, "tid": 7, "ts": 1, "dur": 4}]})");
        const Answer answer = summarize({ file, "--format", "json" });
        QCOMPARE(answer.exitCode, 2); // of no rank anything is told
        const json rank = json::parse(answer.out).at("ranks").at(0);
        QVERIFY(rank.at("compute_us").is_null());
        QVERIFY(rank.at("reason") == "there is no kernel of a GPU in it");
        QVERIFY2(answer.err.contains(QStringLiteral("no kernel of a GPU")), qPrintable(answer.err));
    }

    void whatFiguresLeaveOutIsSaidUnderThem()
    {
        // Two steps, of which the last does not count; nobody tells the rank; the file ends in the middle
        const QByteArray whole = R"({"schemaVersion": 1, "traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#5", "pid": 1, "tid": 1, "ts": 100, "dur": 100},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#6", "pid": 1, "tid": 1, "ts": 200, "dur": 100},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 110, "dur": 40, "args": {"stream": 7}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 210, "dur": 40, "args": {"stream": 7}},
  {"ph": "X", "cat": "kernel", "name": "gemm"}]})";
        const QString file = written(QStringLiteral("some.json"), whole.left(whole.size() - 5).constData());
        const Answer table = summarize({ file, "--as", "hta" });
        QCOMPARE(table.exitCode, 0);
        for (const char *said : { "Of steps 5, 6 the last does not count", "0 is a guess", "ends early", "0?" })
            QVERIFY2(table.out.find(said) != std::string::npos, (said + (": " + table.out)).c_str());
        const json answer = json::parse(summarize({ file, "--as", "hta", "--format", "json" }).out);
        QCOMPARE(answer.at("notes").size(), std::size_t(3));
        QVERIFY(answer.at("ranks").at(0).at("is_rank_told") == false);
    }

    /// A hundred kernels of 1.5 us, each 1.75 us behind the one before: exactly, and as HTA rounds them.
    void shortKernelsAreSummedExactly()
    {
        std::string events;
        for (int i = 0; i < 100; ++i)
            events += std::string(i > 0 ? ",\n" : "")
                + R"({"ph": "X", "cat": "kernel", "name": "add", "pid": 0, "tid": 7, "dur": 1.5, "args": {"stream": 7}, "ts": )"
                + std::to_string(1000 + 1.75 * i) + "}";
        const QString file = written(
            QStringLiteral("rank0_short.json"), (R"({"schemaVersion": 1, "traceEvents": [)" + events + "]}").c_str());
        const auto compute = [&](const char *rule) {
            const Answer answer = summarize({ file, "--as", rule, "--format", "json" });
            return json::parse(answer.out).at("ranks").at(0).at("compute_us").get<double>();
        };
        QCOMPARE(compute("exact"), 150.0);
        QVERIFY(compute("hta") < 120);
        const Answer table = summarize({ file });
        QVERIFY(table.out.find(" 150 ") != std::string::npos && table.out.find("24.750") != std::string::npos);
    }

    void twoFilesOfOneRankAreSaid()
    {
        const char *text = R"({"schemaVersion": 1, "traceEvents": [
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 110, "dur": 40, "args": {"stream": 7}}]})";
        const Answer table =
            summarize({ written(QStringLiteral("rank3_a.json"), text), written(QStringLiteral("rank3_b.json"), text) });
        QCOMPARE(table.exitCode, 0);
        QVERIFY2(table.out.find("Rank 3 is told by more than one file") != std::string::npos, table.out.c_str());
    }

    void whatAFileIsIsSaid_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QString>("said");
        QTest::newRow("plan") << "p.trainyard.json" << QByteArray(R"({"format": "trainyard.plan", "version": 1})")
                              << "telemetry compare PLAN SOURCE";
        QTest::newRow("picture") << "p.png" << QByteArray("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16) << "a picture (PNG)";
        QTest::newRow("cut") << "c.json" << QByteArray("[1,2") << "it ends early";
    }
    void whatAFileIsIsSaid()
    {
        QFETCH(const QString, name);
        QFETCH(const QByteArray, content);
        QFETCH(const QString, said);
        QFile file(m_folder.filePath(name));
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(content) == content.size());
        file.close();
        const Answer answer = summarize({ file.fileName() });
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(answer.err.contains(said), qPrintable(answer.err));
    }

    void faultsNameTheirFile()
    {
        const QString file =
            written(QStringLiteral("et.json"), R"({"schema": "1.0.1", "pid": 1, "start_ts": 2, "nodes": []})");
        for (const QString &bad : { file, m_folder.filePath(QStringLiteral("none.json")) }) {
            const Answer answer = summarize({ bad });
            QCOMPARE(answer.exitCode, 2);
            QVERIFY(answer.err.contains(bad));
            QVERIFY(answer.out.empty());
        }
        QCOMPARE(summarize({}).exitCode, 2);
    }

private:
    QString written(const QString &name, const char *text)
    {
        QFile file(m_folder.filePath(name));
        if (file.open(QIODevice::WriteOnly))
            file.write(text);
        return file.fileName();
    }

    QTemporaryDir m_folder;
};

TRAINYARD_GUILESS_TEST(TestTelemetry)
#include "tst_telemetry.moc"
