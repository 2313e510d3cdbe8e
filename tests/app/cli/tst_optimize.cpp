// SPDX-License-Identifier: GPL-3.0-or-later
// `trainyard-cli optimize`, run as a script would run it, against `evaluate` of the plans that it writes.
#include "tests/app/cli/program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <csignal>

using nlohmann::json;
using namespace trainyard::test;

namespace {

QString sample(const char *name = "mixed-lab")
{
    return QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/%1.trainyard.json").arg(QLatin1String(name));
}

/// A small part of a sample's space.
QStringList quick(const QStringList &more = {})
{
    return QStringList { QStringLiteral("optimize"), sample(), QStringLiteral("--fix"),
        QStringLiteral("memory,heterogeneity,schedule,parallelism.context,parallelism.virtual_pipeline,"
                       "parallelism.zero_stage,parallelism.sequence_parallel") }
    + more;
}

json asked(const QStringList &more = {})
{
    const Answer answer = run(quick(QStringList { QStringLiteral("--format"), QStringLiteral("json") } + more));
    return answer.exitCode == 0 ? json::parse(answer.out) : json();
}

} // namespace

class TstOptimize : public QObject {
    Q_OBJECT

private slots:
    void thePlanWrittenIsWhatEvaluateSays()
    {
        QTemporaryDir folder;
        const QString out = folder.filePath(QStringLiteral("best.trainyard.json"));
        const json found = asked({ QStringLiteral("--out"), out });
        QVERIFY(!found.is_null() && found["complete"].get<bool>());
        const json best = found["best"][0];
        const json metrics = json::parse(
            run({ QStringLiteral("evaluate"), out, QStringLiteral("--format"), QStringLiteral("json") }).out);
        QVERIFY(metrics["feasible"].get<bool>());
        QCOMPARE(best["iteration_time_s"].get<double>(), metrics["iteration_time_s"].get<double>());
        QCOMPARE(best["tokens_per_s"].get<double>(), metrics["tokens_per_s"].get<double>());
        QCOMPARE(best["gpus_used"].get<int>(), metrics["gpus_used"].get<int>());
        QVERIFY(best["value"].get<double>() <= found["own"]["value"].get<double>());
        QCOMPARE(found["value_is"].get<std::string>(), std::string("seconds_per_token"));
        std::uint64_t combinations = 1;
        for (const json &axis : found["axes"])
            combinations *= axis["values"].size();
        QVERIFY(found["looked"].get<std::uint64_t>() <= combinations);
    }

    void theSameSeedGivesTheSameAnswer()
    {
        json one = asked({ QStringLiteral("--threads"), QStringLiteral("1") }),
             two = asked({ QStringLiteral("--threads"), QStringLiteral("3") });
        one.erase("elapsed_s");
        two.erase("elapsed_s");
        QVERIFY(one == two);
    }

    void theTableTellsChangesAndWhatWasLeftOut()
    {
        const Answer answer = run(quick());
        QCOMPARE(answer.exitCode, 0);
        const QString text = QString::fromStdString(answer.out);
        QVERIFY(text.contains(QStringLiteral("proven best")));
        QVERIFY(text.contains(QStringLiteral("yours")));
        QVERIFY(text.contains(QStringLiteral("\n1. ")));
        QVERIFY(text.contains(QStringLiteral("Left out")));
        QVERIFY(answer.err.isEmpty()); // no progress where it is piped
    }

    void nothingFeasibleEndsWithOne()
    {
        QTemporaryDir folder;
        const QString out = folder.filePath(QStringLiteral("none.trainyard.json"));
        const Answer answer =
            run(quick({ QStringLiteral("--min-tokens-per-s"), QStringLiteral("1e12"), QStringLiteral("--out"), out }));
        QCOMPARE(answer.exitCode, 1);
        QVERIFY(!QFile::exists(out));
        QVERIFY(answer.out.find("No plan of this space is feasible") != std::string::npos);
    }

    void constraintsAreKept()
    {
        const json found = asked({ QStringLiteral("--objective"), QStringLiteral("gpus"), QStringLiteral("--max-gpus"),
            QStringLiteral("3"), QStringLiteral("--memory-margin"), QStringLiteral("0.1") });
        QVERIFY(!found.is_null());
        for (const json &row : found["best"]) {
            QVERIFY(row["gpus_used"].get<int>() <= 3);
            QVERIFY(row["memory_fill"].get<double>() <= 0.9);
        }
    }

    void scenariosRaiseTheValue()
    {
        const json calm = asked(), slow = asked({ QStringLiteral("--scenario"), QStringLiteral("slow") }),
                   mean = asked({ QStringLiteral("--scenario"), QStringLiteral("slow"), QStringLiteral("--robust"),
                       QStringLiteral("expected") });
        QVERIFY(calm["best"][0]["value"].get<double>() < mean["best"][0]["value"].get<double>());
        QVERIFY(mean["best"][0]["value"].get<double>() < slow["best"][0]["value"].get<double>());
    }

    void badInputNamesWhatWouldBeRight_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("says");
        const auto row = [](const char *name, const QStringList &arguments, const char *says) {
            QTest::newRow(name) << arguments << QString::fromUtf8(says);
        };
        row("key", { QStringLiteral("--fix"), QStringLiteral("parallelism.tenser") }, "parallelism.tensor");
        row("scenario", { QStringLiteral("--scenario"), QStringLiteral("lost:lob") }, "lost");
        row("margin", { QStringLiteral("--memory-margin"), QStringLiteral("2") }, "--memory-margin");
        row("days", { QStringLiteral("--max-days"), QStringLiteral("2") }, "training_tokens");
        row("datacenter", { QStringLiteral("--datacenter"), QStringLiteral("lba") }, "lab");
        row("objective", { QStringLiteral("--objective"), QStringLiteral("speed") }, "throughput");
    }
    void badInputNamesWhatWouldBeRight()
    {
        QFETCH(QStringList, arguments);
        QFETCH(QString, says);
        const Answer answer = run(QStringList { QStringLiteral("optimize"), sample() } + arguments);
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(answer.err.contains(says), qPrintable(answer.err));
        QVERIFY(answer.out.empty());
    }

    void secondsAreKeptAndTheBestIsTold()
    {
        const Answer answer = run({ QStringLiteral("optimize"), sample("llama-3-70b-three-regions"),
            QStringLiteral("--seconds"), QStringLiteral("0.5"), QStringLiteral("--format"), QStringLiteral("json") });
        QCOMPARE(answer.exitCode, 0);
        const json found = json::parse(answer.out);
        QVERIFY(!found["best"].empty() && !found["complete"].get<bool>());
    }

    /// The best so far, and the exit code of shells.
    void interruptedItTellsTheBestSoFar()
    {
        QProcess process;
        process.start(QStringLiteral(TRAINYARD_CLI),
            { QStringLiteral("optimize"), sample("llama-3-70b-three-regions"), QStringLiteral("--seconds"),
                QStringLiteral("100"), QStringLiteral("--format"), QStringLiteral("json") });
        QVERIFY(process.waitForStarted());
        QTest::qWait(3000);
        QVERIFY(process.processId() > 0);
        ::kill(pid_t(process.processId()), SIGINT);
        const Answer answer = answerOf(process);
        QCOMPARE(answer.exitCode, 130);
        const json found = json::parse(answer.out);
        QVERIFY(found["stopped"].get<bool>() && !found["best"].empty());
    }
};

QTEST_GUILESS_MAIN(TstOptimize)
#include "tst_optimize.moc"
