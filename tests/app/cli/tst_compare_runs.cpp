// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry compare`, run as a script would run it: differences add up, whatever the run is compared with.
#include "tests/app/cli/program.h"
#include "tests/support/test_program.h"

#include <QByteArrayList>
#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <nlohmann/json.hpp>

using nlohmann::json;
using trainyard::test::Answer;
using trainyard::test::run;

namespace {

QByteArray number(double value)
{
    return QByteArray::number(value, 'f', 3);
}

QByteArray span(const char *category, const QByteArray &name, int thread, double start, double duration)
{
    return "{\"ph\": \"X\", \"cat\": \"" + QByteArray(category) + "\", \"name\": \"" + name
        + "\", \"pid\": 0, \"tid\": " + QByteArray::number(thread) + ", \"ts\": " + number(start)
        + ", \"dur\": " + number(duration) + ", \"args\": {\"stream\": " + QByteArray::number(thread) + "}}";
}

/// Three steps of 100 ms: 60 ms (times `slower`) of computation, then an all-reduce that both ranks end together.
QByteArray trace(int rank, double slower)
{
    QByteArrayList events;
    for (int step = 0; step < 3; ++step) {
        const double begin = 1000 + step * 100'000.0, computed = 60'000 * slower;
        events += span("user_annotation", "ProfilerStep#" + QByteArray::number(step + 5), 1, begin, 100'000);
        for (int i = 0; i < 6; ++i)
            events += span("kernel", "gemm", 7, begin + i * computed / 6, computed / 6);
        events += span("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 9, begin + computed, 80'000 - computed);
        events += span("kernel", "adam", 7, begin + 90'000, 9'000);
    }
    return "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": " + QByteArray::number(rank)
        + ", \"world_size\": 2}, \"traceEvents\": [" + events.join(",\n") + "]}";
}

double sumOf(const json &answer, const char *side)
{
    double sum = 0;
    for (const json &row : answer.at("differences"))
        sum += row.at(side).is_null() ? 0 : row.at(side).get<double>();
    return sum;
}

} // namespace

class TestCompareRuns : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        for (int rank = 0; rank < 2; ++rank)
            write(QStringLiteral("rank%1_trace.json").arg(rank), trace(rank, rank == 1 ? 1.2 : 1));
        m_recording = m_folder.filePath(QStringLiteral("a.trainyard-recording"));
        const Answer imported = run({ "import", file(0), file(1), "--out", m_recording });
        QVERIFY2(imported.exitCode == 0, qPrintable(imported.err));
        m_plan = write(QStringLiteral("two.trainyard.json"),
            "{\"format\": \"trainyard.plan\", \"version\": 1, \"name\": \"two\","
            " \"cluster\": {\"datacenters\": [{\"id\": \"a\", \"pools\": [{\"id\": \"p\","
            " \"gpu\": \"a100-sxm-80gb\", \"nodes\": 1, \"gpus_per_node\": 2}]}]},"
            " \"workload\": {\"model\": \"gpt-3-1.3b\", \"sequence_length\": 1024, \"global_batch\": 4}}");
    }

    void aPlanAndARunDifferByTheSumOfTheirKinds()
    {
        const json answer = compared({ m_plan, m_recording });
        // Of each column the kinds add up to the step, and the differences to the difference of the steps
        const double reference = answer.at("reference_s"), measured = answer.at("measured_s");
        QVERIFY(reference > 0);
        QVERIFY(std::abs(sumOf(answer, "reference_s") - reference) < 1e-9);
        QVERIFY(std::abs(sumOf(answer, "measured_s") - measured) < 1e-9);
        QVERIFY(std::abs(sumOf(answer, "difference_s") - (measured - reference)) < 1e-9);
        QCOMPARE(answer.at("ranks").get<int>(), 2);
        QCOMPARE(answer.at("steps").size(), std::size_t(3));
        QCOMPARE(answer.at("missing_ranks").size(), std::size_t(0));
        // Mean of 69 and 81 ms of computation
        QVERIFY(std::abs(answer.at("differences").at(0).at("measured_s").get<double>() - 0.075) < 1e-6);
        const Answer table = run({ "telemetry", "compare", m_plan, m_recording });
        QCOMPARE(table.exitCode, 0);
        QVERIFY(table.out.find("Compute") != std::string::npos);
        QVERIFY(table.out.find("Median") != std::string::npos);
    }

    void aRunDiffersFromItselfByNothing()
    {
        const json answer = compared({ m_recording, m_recording, "--step", "6" });
        QCOMPARE(answer.at("step").get<int>(), 6);
        QVERIFY(std::abs(answer.at("difference_s").get<double>()) < 1e-6);
        for (const json &row : answer.at("differences"))
            QVERIFY(std::abs(row.at("difference_s").get<double>()) < 1e-6);
        // Traces are as good as the recording of them
        const json ofTraces = compared({ m_plan, file(0), file(1) }), ofRecording = compared({ m_plan, m_recording });
        QVERIFY(ofTraces.at("difference_s") == ofRecording.at("difference_s"));
    }

    void cutAndRepeatedFilesAreSaidInBothFormats()
    {
        QTemporaryDir folder(m_folder.filePath(QStringLiteral("attempts-XXXXXX")));
        const QString name = QDir(folder.path()).dirName();
        const QByteArray whole = trace(0, 1);
        write(name + QStringLiteral("/rank0_trace.json"), whole);
        write(name + QStringLiteral("/rank0_cut.json"), whole.left(whole.size() * 4 / 5));
        const json answer = compared({ m_plan, folder.path() });
        const Answer table = run({ "telemetry", "compare", m_plan, folder.path() });
        for (const char *said : { "ends early", "Rank 0 is told by more than one file" }) {
            QVERIFY2(answer.at("notes").dump().find(said) != std::string::npos, answer.at("notes").dump().c_str());
            QVERIFY2(table.out.find(said) != std::string::npos, table.out.c_str());
        }
        // A run of several files is called by its folder, in a column that is not too wide
        QVERIFY2(answer.at("measured").get<std::string>().find("attempts-") != std::string::npos, table.out.c_str());
        const Answer ofRuns = run({ "telemetry", "compare", m_recording, m_recording });
        QVERIFY2(ofRuns.out.find("reference: step") != std::string::npos
                && ofRuns.out.find("run − reference") != std::string::npos,
            ofRuns.out.c_str());
    }

    void stepsWithoutTimesAreSaid()
    {
        const QString log = write(QStringLiteral("hf.log"),
            "{'loss': 2.1, 'grad_norm': 1.0, 'learning_rate': 1e-05, 'epoch': 0.1}\n"
            "{'loss': 2.0, 'grad_norm': 1.0, 'learning_rate': 1e-05, 'epoch': 0.2}\n");
        const Answer answer = run({ "telemetry", "compare", m_plan, log });
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(answer.err.contains(QStringLiteral("2 steps, but no times of them")), qPrintable(answer.err));
    }

    void whatCannotBeComparedIsTold()
    {
        const Answer step = run({ "telemetry", "compare", m_plan, m_recording, "--step", "99" });
        QCOMPARE(step.exitCode, 2);
        QVERIFY2(step.err.contains(QStringLiteral("from 5 to 7")), qPrintable(step.err));
        const Answer none = run({ "telemetry", "compare", m_plan, m_plan });
        QCOMPARE(none.exitCode, 2);
        QVERIFY(none.err.contains(m_plan));
        QCOMPARE(run({ "telemetry", "compare", m_folder.filePath("absent"), m_recording }).exitCode, 2);
        QCOMPARE(run({ "telemetry", "compare", m_plan }).exitCode, 2);
    }

private:
    json compared(const QStringList &arguments)
    {
        const Answer answer =
            run(QStringList { "telemetry", "compare" } + arguments + QStringList { "--format", "json" });
        if (answer.exitCode != 0)
            qWarning("%s", qPrintable(answer.err));
        return answer.exitCode == 0 ? json::parse(answer.out) : json();
    }
    [[nodiscard]] QString file(int rank) const
    {
        return m_folder.filePath(QStringLiteral("rank%1_trace.json").arg(rank));
    }
    QString write(const QString &name, const QByteArray &content) const
    {
        QFile out(m_folder.filePath(name));
        if (!out.open(QIODevice::WriteOnly) || out.write(content) != content.size())
            qFatal("cannot write %s", qPrintable(name));
        return out.fileName();
    }

    QTemporaryDir m_folder;
    QString m_recording, m_plan;
};

TRAINYARD_GUILESS_TEST(TestCompareRuns)
#include "tst_compare_runs.moc"
