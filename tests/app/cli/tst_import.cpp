// SPDX-License-Identifier: GPL-3.0-or-later
// `import` and `schema recording`, run as a script would run them.
#include "tests/app/cli/program.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <nlohmann/json.hpp>

using nlohmann::json;
using trainyard::test::Answer;
using trainyard::test::run;

namespace {

QByteArray eventOf(const QByteArray &name, int start, int duration)
{
    return "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" + name + "\", \"pid\": 0, \"tid\": 7, \"ts\": "
        + QByteArray::number(start) + ", \"dur\": " + QByteArray::number(duration) + ", \"args\": {\"stream\": 7}}";
}

QByteArray trace(int rank)
{
    return "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": " + QByteArray::number(rank)
        + ", \"world_size\": 2}, \"traceEvents\": [" + eventOf("gemm", 100, 40) + ",\n"
        + eventOf("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 130, 40) + "]}";
}

} // namespace

class TestImport : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        QVERIFY(QDir(m_folder->path()).mkdir(QStringLiteral("run")));
        for (int rank = 0; rank < 2; ++rank)
            write(QStringLiteral("run/rank%1_trace.json").arg(rank), trace(rank));
    }

    void aFolderBecomesOneRecordingThatIsASourceAgain()
    {
        const QString out = file("run.trainyard-recording");
        const Answer imported = import({ file("run"), "--out", out });
        QCOMPARE(imported.err, QString());
        QCOMPARE(imported.exitCode, 0);
        QVERIFY(imported.out.find("PyTorch profiler trace") != std::string::npos);
        QVERIFY(imported.out.find("2 ranks, 4 spans") != std::string::npos);
        const QStringList summarize { "telemetry", "summarize", "--format", "json" };
        const Answer fromTraces = run(summarize + QStringList { file("run") });
        const Answer fromRecording = run(summarize + QStringList { out });
        QCOMPARE(fromRecording.exitCode, 0);
        QCOMPARE(fromRecording.out, fromTraces.out);
        // A recording of a recording is the same file
        const QString again = file("again.trainyard-recording");
        QCOMPARE(import({ out, "--out", again }).exitCode, 0);
        QCOMPARE(read(again), read(out));
    }

    void theReportIsJsonToo()
    {
        write(QStringLiteral("run/readme.txt"), "nothing of a tool\n");
        const Answer answer = import({ file("run"), "--out", file("a.trainyard-recording"), "--format", "json" });
        QCOMPARE(answer.exitCode, 0); // it lay in a folder: told, and no fault
        QVERIFY(answer.err.contains(QStringLiteral("readme.txt")));
        const json report = json::parse(answer.out);
        QCOMPARE(report.at("taken").size(), std::size_t(2));
        QCOMPARE(report.at("refused").size(), std::size_t(1));
        QVERIFY(report.at("refused").at(0).at("file").get<std::string>().ends_with("readme.txt"));
    }

    void aNamedFileThatIsNoneIsAFaultAndSpoilsNoOther()
    {
        const QString bad = write(QStringLiteral("readme.txt"), "nothing of a tool\n");
        const QString out = file("a.trainyard-recording");
        const Answer some = import({ file("run"), bad, "--out", out });
        QCOMPARE(some.exitCode, 2);
        QVERIFY(some.err.contains(bad));
        QVERIFY(QFile::exists(out));
        QFile::remove(out);
        const Answer none = import({ bad, "--out", out });
        QCOMPARE(none.exitCode, 2);
        QVERIFY(!QFile::exists(out));
    }

    void aBrokenRecordingNamesThePointer()
    {
        const QString bad = write(QStringLiteral("bad.trainyard-recording"),
            "{\"format\": \"trainyard.recording\", \"version\": 1, \"names\": [\"a\"], \"ranks\": [{\"streams\": ["
            "{\"spans\": {\"start_ns\": [1], \"duration_ns\": [1], \"name\": [3], \"work\": [0]}}]}]}");
        const Answer answer = import({ bad, "--out", file("a.trainyard-recording") });
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(answer.err.contains(QStringLiteral("/ranks/0/streams/0/spans/name/0")), qPrintable(answer.err));
    }

    void anOutputIsNeverOneOfTheSources()
    {
        const QString out = file("a.trainyard-recording");
        QCOMPARE(import({ file("run"), "--out", out }).exitCode, 0);
        const QByteArray before = read(out);
        QCOMPARE(import({ out, "--out", out }).exitCode, 2);
        QCOMPARE(import({ m_folder->path(), "--out", out }).exitCode, 2);
        QCOMPARE(import({ file("run"), "--out", file("a.json") }).exitCode, 2);
        QCOMPARE(import({ file("run") }).exitCode, 2);
        QCOMPARE(import({ file("run"), "--out", file("no/folder.trainyard-recording") }).exitCode, 2);
        QCOMPARE(read(out), before);
    }

    void anInterruptedImportLeavesNothingHalfWritten()
    {
        QByteArray events;
        for (int i = 0; i < 300'000; ++i)
            events += (i > 0 ? ",\n" : "") + eventOf("gemm", i * 10, 5);
        const QString big =
            write(QStringLiteral("run/big_trace.json"), "{\"schemaVersion\": 1, \"traceEvents\": [" + events + "]}");
        const QString out = file("a.trainyard-recording");
        const qint64 all = QFileInfo(big).size();
        struct Stage {
            const char *what;
            qint64 bytes;
        };
        for (const Stage &stage : { Stage { "rchar", 0 }, { "rchar", all / 2 }, { "rchar", all }, { "wchar", 1 } }) {
            QProcess process;
            process.start(QStringLiteral(TRAINYARD_CLI), { "import", file("run"), "--out", out });
            QVERIFY(process.waitForStarted());
            if (trainyard::test::hasCounted(process, stage.what, stage.bytes)) // else it is done
                ::kill(pid_t(process.processId()), SIGINT);
            QVERIFY(process.state() == QProcess::NotRunning || process.waitForFinished(60'000));
            const bool isDone = process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0;
            // A signal that comes while it ends finds the file there, whole
            const bool isWritten = QFile::exists(out);
            QVERIFY(isWritten || !isDone);
            QVERIFY(!isWritten || run({ "telemetry", "summarize", out }).exitCode == 0);
            QCOMPARE(QDir(m_folder->path()).entryList(QDir::Files | QDir::Hidden).size(), isWritten ? 1 : 0);
            QFile::remove(out);
        }
    }

    void aPlanIsWrittenFromArgumentsOnTopOfABase()
    {
        const QString script = write(QStringLiteral("train.sh"),
            "#!/bin/bash\ntorchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --tensor-model-parallel-size 4 \\\n"
            "  --pipeline-model-parallel-size 2 --num-layers 24 --hidden-size 2048 --num-attention-heads 16 \\\n"
            "  --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 1 --global-batch-size 64 --bf16\n");
        const QString base = write(QStringLiteral("base.trainyard.json"),
            "{\"format\": \"trainyard.plan\", \"version\": 1, \"cluster\": {\"datacenters\": [{\"id\": \"a\","
            " \"pools\": [{\"id\": \"p\", \"gpu\": \"a100-sxm-80gb\", \"nodes\": 1}]}]},"
            " \"workload\": {\"model\": \"gpt-3-1.3b\", \"sequence_length\": 1024, \"global_batch\": 4}}");
        const QString out = file("out.trainyard.json");
        const Answer answer = import({ script, "--base", base, "--out", out, "--format", "json" });
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        QVERIFY(!json::parse(answer.out).at("plan").empty());
        const json plan = json::parse(read(out).toStdString());
        QCOMPARE(plan.at("parallelism").at("tensor").get<int>(), 4);
        QCOMPARE(plan.at("parallelism").at("pipeline").get<int>(), 2);
        QCOMPARE(plan.at("workload").at("global_batch").get<int>(), 64);
        QCOMPARE(plan.at("cluster").at("datacenters").at(0).at("pools").at(0).at("gpu").get<std::string>(),
            std::string("a100-sxm-80gb"));
        QCOMPARE(run({ "evaluate", out, "--format", "json" }).exitCode, 0);
        // The same by way of a recording
        const QString recording = file("args.trainyard-recording"), again = file("again.trainyard.json");
        QCOMPARE(import({ script, "--out", recording }).exitCode, 0);
        QCOMPARE(import({ recording, "--base", base, "--out", again }).exitCode, 0);
        QCOMPARE(read(again), read(out));
        QCOMPARE(import({ script, "--base", base, "--out", file("b.trainyard-recording") }).exitCode, 2);
        QCOMPARE(import({ file("run"), "--base", base, "--out", base }).exitCode, 2);
    }

    void aLogOfAnotherToolIsReadByALinePattern()
    {
        const QString log = write("own.log", "it 1: 250 ms\nit 2: 240 ms\nit 3: 245 ms\n"),
                      out = file("own.trainyard-recording");
        const Answer unread = import({ log, "--out", out });
        QCOMPARE(unread.exitCode, 2);
        QVERIFY2(unread.err.contains("--line-pattern"), qPrintable(unread.err));
        const Answer wrong = import({ log, "--out", out, "--line-pattern", "it (?<zebra>.)" });
        QCOMPARE(wrong.exitCode, 2);
        QVERIFY2(wrong.err.contains("names a group zebra"), qPrintable(wrong.err));
        const Answer done = import({ log, "--out", out, "--line-pattern", "it (?<step>.): (?<time>[0-9]+) ms" });
        QVERIFY2(done.exitCode == 0, qPrintable(done.err));
        // the recording has it, and needs it no more
        const Answer verdict = run({ "telemetry", "verdict", out });
        QVERIFY2(verdict.out.find("A step takes 24") != verdict.out.npos, verdict.out.c_str());
    }

    void theSchemaOfRecordingsIsPrinted()
    {
        const Answer answer = run({ "schema", "recording" });
        QCOMPARE(answer.exitCode, 0);
        QVERIFY(json::parse(answer.out).at("properties").contains("ranks"));
    }

private:
    static Answer import(const QStringList &arguments) { return run(QStringList { "import" } + arguments); }
    [[nodiscard]] QString file(const char *name) const { return m_folder->filePath(QLatin1String(name)); }
    QString write(const QString &name, const QByteArray &content) const
    {
        QFile out(m_folder->filePath(name));
        if (!out.open(QIODevice::WriteOnly) || out.write(content) != content.size())
            qFatal("cannot write %s", qPrintable(name));
        return out.fileName();
    }
    static QByteArray read(const QString &path)
    {
        QFile in(path);
        return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

TRAINYARD_GUILESS_TEST(TestImport)
#include "tst_import.moc"
