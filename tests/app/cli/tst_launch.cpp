// SPDX-License-Identifier: GPL-3.0-or-later
// `export --to megatron|torchtitan|slurm|dot`: scripts that a shell takes, keys that no framework runs, exit codes.
#include "tests/app/cli/program.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace trainyard::test;

namespace {

} // namespace

class TestLaunch : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QVERIFY(m_folder.isValid()); }

    void aShellTakesEveryScript_data()
    {
        QTest::addColumn<QString>("to");
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("set");
        QTest::newRow("Megatron-LM") << QStringLiteral("megatron") << sampleFile("gpt3-175b-1024-a100") << QString();
        QTest::newRow("several datacenters")
            << QStringLiteral("slurm") << sampleFile("llama-3-70b-three-regions") << QString();
        QTest::newRow("torchtitan") << QStringLiteral("torchtitan") << sampleFile("llama-3.1-405b-16384-h100")
                                    << QStringLiteral("parallelism.virtual_pipeline=2");
        QTest::newRow("Slurm") << QStringLiteral("slurm") << sampleFile("megatron-1t-3072-a100") << QString();
    }
    void aShellTakesEveryScript()
    {
        QFETCH(QString, to);
        QFETCH(QString, path);
        QFETCH(QString, set);
        const QString script = m_folder.filePath(to + QStringLiteral(".sh"));
        const QStringList setting = set.isEmpty() ? QStringList {} : QStringList { QStringLiteral("--set"), set };
        const Answer answer = run(
            QStringList { QStringLiteral("export"), path, QStringLiteral("--to"), to, QStringLiteral("--out"), script }
            + setting);
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        QVERIFY(answer.out.empty());
        QVERIFY(answer.err.startsWith(u"note: "));
        QCOMPARE(
            shell(QStringLiteral("command -v bash > /dev/null || exit 0; bash -n \"$1\""), { script }).exitCode, 0);
        QFile file(script);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY(file.readAll().startsWith("#!/usr/bin/env bash\n"));
    }

    void everyTargetWritesItsFile_data()
    {
        QTest::addColumn<QString>("sample");
        QTest::addColumn<QByteArray>("part");
        const QString regions = QStringLiteral("llama-3-70b-three-regions"),
                      gpt = QStringLiteral("gpt3-175b-1024-a100");
        QTest::newRow("deepspeed") << regions << QByteArray("\n  \"zero_optimization\": {\n    \"stage\": 1,");
        QTest::newRow("megatron-bridge") << regions << QByteArray("--recipe llama3_70b_pretrain_config ");
        QTest::newRow("trainjob") << gpt << QByteArray("\nkind: TrainJob\n");
        QTest::newRow("jobset") << regions << QByteArray("\nkind: JobSet\n");
        QTest::newRow("skypilot") << gpt << QByteArray("\n  accelerators: A100-80GB:8\n");
        QTest::newRow("torchtitan") << QStringLiteral("llama-3.1-405b-16384-h100") << QByteArray(" Interleaved1F1B ");
    }
    void everyTargetWritesItsFile()
    {
        QFETCH(QString, sample);
        QFETCH(QByteArray, part);
        const Answer answer =
            run(words("export --to") << QString::fromUtf8(QTest::currentDataTag()) << sampleFile(sample.toUtf8()));
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        QVERIFY2(QByteArray::fromStdString(answer.out).replace(" \\\n    ", " ").contains(part), answer.out.c_str());
        // JSON has no comments: its notes are told wherever it goes
        QCOMPARE(answer.err.startsWith(u"note: "), QTest::currentDataTag() == QByteArray("deepspeed"));
    }

    void theScriptIsImportedAsThePlanOfTheSample()
    {
        const QString script = m_folder.filePath(QStringLiteral("gpt.sh"));
        const QString plan = m_folder.filePath(QStringLiteral("gpt.trainyard.json"));
        QCOMPARE(run(words("export --to megatron --out") << script << sampleFile("gpt3-175b-1024-a100")).exitCode, 0);
        const Answer answer =
            run(words("import --base") << sampleFile("moe-2x70b-16-a800") << QStringLiteral("--out") << plan << script);
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        QFile file(plan);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray text = file.readAll();
        for (const char *part :
            { "\"gpt-3-175b\"", "\"interleaved\"", "\"virtual_pipeline\": 3", "\"fp16\"", "\"full\"" })
            QVERIFY2(text.contains(part), text.constData());
    }

    void measuredTimesHaveNothingToTrain()
    {
        for (const char *to : { "megatron", "torchtitan", "slurm" }) {
            const Answer answer =
                run(words("export --to") << QString::fromUtf8(to) << sampleFile("atlas-three-datacenters"));
            QCOMPARE(answer.exitCode, 2);
            QVERIFY(answer.out.empty());
            QVERIFY2(answer.err.contains(u"/profile: "), qPrintable(answer.err));
        }
    }

    void eachKeyThatAFrameworkLacksIsALine()
    {
        const Answer answer = run(words("export --to megatron --set schedule=zb-h1 --set memory.optimizer_offload=ssd "
                                        "--set memory.saved_activation_bits=8 --set parallelism.virtual_pipeline=1")
            << sampleFile("gpt3-175b-1024-a100"));
        QCOMPARE(answer.exitCode, 2);
        const QStringList lines = answer.err.split(u'\n', Qt::SkipEmptyParts);
        QVERIFY2(lines.size() >= 3, qPrintable(answer.err));
        for (const char *key : { "/schedule: ", "/memory/optimizer_offload: ", "/memory/saved_activation_bits: " })
            QCOMPARE(lines.filter(QString::fromUtf8(key)).size(), 1);
    }

    void aPlanOfJobsIsNoTraining()
    {
        const Answer answer = run(words("export --to slurm") << sampleFile("hydra-lab"));
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(answer.err.contains(u"/job_grid: "), qPrintable(answer.err));
    }

    void tasksAreADigraph()
    {
        const Answer answer = run(words("export --to dot") << sampleFile("atlas-three-datacenters"));
        QCOMPARE(answer.exitCode, 0);
        QVERIFY(answer.out.starts_with("digraph trainyard {\n"));
        QVERIFY(answer.out.ends_with("}\n"));
    }

private:
    QTemporaryDir m_folder;
};

TRAINYARD_GUILESS_TEST(TestLaunch)
#include "tst_launch.moc"
