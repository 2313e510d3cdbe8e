// SPDX-License-Identifier: GPL-3.0-or-later
// `trainyard-cli optimize`, run as a script would run it, against `evaluate` of the plans that it writes.
#include "tests/app/cli/program.h"
#include "tests/app/cli/terminal.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <set>

using nlohmann::json;
using namespace trainyard::test;

namespace {

/// A small part of a sample's space.
QStringList quick(const QStringList &more = {})
{
    return QStringList { QStringLiteral("optimize"), sampleFile("mixed-lab"), QStringLiteral("--fix"),
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

    void thePriceToldIsThatOfThePlanWritten_data()
    {
        QTest::addColumn<QStringList>("asked");
        QTest::addColumn<bool>("isTrimmed");
        QTest::newRow("budget") << words("--max-usd-per-hour 800") << true;
        QTest::newRow("cost") << words("--objective cost") << true;
        QTest::newRow("gpus") << words("--objective gpus --min-tokens-per-s 100000") << true;
        QTest::newRow("most GPUs") << words("--max-gpus 100") << true;
        QTest::newRow("kept") << words("--objective cost --keep-idle") << false;
        QTest::newRow("datacenter") << words("--datacenter virginia,ohio") << true;
    }
    /// evaluate of the file says what optimize said of it; GPUs that idle are gone where money or GPUs are asked about,
    /// and the iteration is the same to the last bit.
    void thePriceToldIsThatOfThePlanWritten()
    {
        QFETCH(QStringList, asked);
        QFETCH(bool, isTrimmed);
        QTemporaryDir folder;
        const QString out = folder.filePath(QStringLiteral("best.trainyard.json"));
        const Answer answer = run(
            QStringList { QStringLiteral("optimize"), sampleFile("llama-3-70b-three-regions"), QStringLiteral("--fix"),
                QStringLiteral("memory,schedule,wan,parallelism.tensor,parallelism.context,"
                               "parallelism.zero_stage,workload.micro_batch"),
                QStringLiteral("--format"), QStringLiteral("json"), QStringLiteral("--out"), out }
            + asked);
        QCOMPARE(answer.exitCode, 0);
        const json found = json::parse(answer.out), best = found["best"][0], written = found["written"];
        const json metrics = json::parse(
            run({ QStringLiteral("evaluate"), out, QStringLiteral("--format"), QStringLiteral("json") }).out);
        const auto same = [](const json &one, const json &other) {
            return std::abs(one.get<double>() - other.get<double>()) <= 1e-9 * std::abs(other.get<double>());
        };
        QCOMPARE(metrics["iteration_time_s"].get<double>(), best["iteration_time_s"].get<double>());
        QCOMPARE(metrics["gpus_used"].get<int>(), best["gpus_used"].get<int>());
        QCOMPARE(metrics["gpus_total"].get<int>(), written["gpus"].get<int>());
        const json &price = metrics["cost"]["usd_per_million_tokens"];
        QVERIFY(same(price, written["usd_per_million_tokens"]));
        // Nodes are rented whole: of those that are left less than one of 8 in each of three pools idles.
        const int idle = written["gpus"].get<int>() - written["gpus_used"].get<int>();
        QVERIFY2(isTrimmed ? idle < 3 * 8 : written["gpus"].get<int>() == 576, qPrintable(QString::number(idle)));
        if (!isTrimmed || idle == 0)
            QVERIFY(same(price, best[isTrimmed ? "usd_per_million_tokens_used" : "usd_per_million_tokens_cluster"]));
        QCOMPARE(written["idle_gpus_dropped"].get<int>(), 576 - written["gpus"].get<int>());
        const double perHour =
            metrics["cost"]["usd_per_iteration"].get<double>() * 3600 / metrics["iteration_time_s"].get<double>();
        QVERIFY(same(perHour, written["usd_per_hour"]));
        if (asked.contains(QStringLiteral("--max-usd-per-hour")))
            QVERIFY(perHour <= 800);
    }

    void rowsThatWereLookedAtAreToldWhereAskedFor()
    {
        const json found = asked({ QStringLiteral("--rows"), QStringLiteral("50") });
        QVERIFY(!found.is_null() && !asked().contains("rows"));
        QCOMPARE(found["rows"].size(), std::size_t(50));
        QVERIFY(found["rows"][0]["number"] == found["own"]["number"]);
        std::uint64_t number = 0; // of a candidate by mixed radix, the first axis slowest
        const json &row = found["rows"][1];
        QCOMPARE(row["values"].size(), found["axes"].size());
        for (std::size_t axis = 0; axis < found["axes"].size(); ++axis)
            number = number * found["axes"][axis]["values"].size() + row["values"][axis].get<std::uint64_t>();
        QCOMPARE(number, row["number"].get<std::uint64_t>());
    }

    void everyPlanToldReadsOtherwise()
    {
        const json found = asked({ QStringLiteral("--top"), QStringLiteral("20") });
        std::set<std::string> told;
        for (const json &row : found["best"])
            told.insert(row["changes"].dump());
        QCOMPARE(told.size(), found["best"].size());
    }

    void theWorstWorldIsNamed()
    {
        const QStringList arguments = words("--scenario slow --scenario prices+30% --objective cost");
        const json found = asked(arguments);
        QCOMPARE(found["scenarios"].size(), std::size_t(2));
        QCOMPARE(found["robust"].get<std::string>(), std::string("worst"));
        const std::string world = found["best"][0]["worst_world"].get<std::string>();
        QVERIFY(std::ranges::find(found["scenarios"], json(world)) != found["scenarios"].end());
        const Answer table = run(quick(arguments));
        QVERIFY2(table.out.find(world) != std::string::npos, table.out.c_str());
        QVERIFY(table.out.find("all others are of the plan's own world") != std::string::npos);
    }

    void numbersAreFinite_data()
    {
        QTest::addColumn<QString>("option");
        for (const char *option :
            { "--max-usd-per-hour", "--min-tokens-per-s", "--max-days", "--memory-margin", "--seconds" })
            QTest::newRow(option) << QString::fromUtf8(option);
    }
    void numbersAreFinite()
    {
        QFETCH(QString, option);
        for (const char *text : { "nan", "inf", "-inf", "1e999" }) {
            const Answer answer =
                run({ QStringLiteral("optimize"), sampleFile("mixed-lab"), option + u'=' + QString::fromUtf8(text) });
            QCOMPARE(answer.exitCode, 2);
            QVERIFY2(answer.err.contains(QString::fromUtf8(text)), qPrintable(answer.err));
        }
    }

    void whatNamesNothingIsNoLimit()
    {
        for (const QStringList &options : { QStringList { QStringLiteral("--datacenter"), QStringLiteral(",") },
                 QStringList { QStringLiteral("--fix"), QStringLiteral(",") },
                 QStringList { QStringLiteral("--max-gpus=-1") } }) {
            const Answer answer = run(QStringList { QStringLiteral("optimize"), sampleFile("mixed-lab") } + options);
            QCOMPARE(answer.exitCode, 2);
            QVERIFY2(answer.err.contains(options.front().section(u'=', 0, 0)), qPrintable(answer.err));
        }
    }

    /// The sample's software lets pipelines take no turns on a link: what it proposes starts, unless the plan asks for
    /// turns itself.
    void whatNoLauncherStartsIsTold()
    {
        QTemporaryDir folder;
        const QString out = folder.filePath(QStringLiteral("best.trainyard.json"));
        const QString plan = sampleFile("llama-3-70b-three-regions");
        for (const QStringList &turns :
            { QStringList {}, QStringList { QStringLiteral("--set"), QStringLiteral("wan.sharing=temporal") } }) {
            QString fixed = QStringLiteral("memory,parallelism,schedule,placement,workload");
            if (!turns.isEmpty())
                fixed += QStringLiteral(",wan.sharing");
            const Answer answer =
                run(QStringList { QStringLiteral("optimize"), plan, QStringLiteral("--fix"), fixed,
                        QStringLiteral("--format"), QStringLiteral("json"), QStringLiteral("--out"), out }
                    + turns);
            QCOMPARE(answer.exitCode, 0);
            const json why = json::parse(answer.out)["written"]["not_launched"];
            const Answer exported =
                run({ QStringLiteral("export"), out, QStringLiteral("--to"), QStringLiteral("slurm") });
            // reasons there are none = the script is written
            QCOMPARE(why.empty(), exported.exitCode == 0);
            QCOMPARE(why.empty(), turns.isEmpty());
            for (const json &one : why)
                QVERIFY2(one.get<std::string>().starts_with("wan."), one.get<std::string>().c_str());
        }
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

    void aProofThatThereIsNoneEndsWithOne()
    {
        QTemporaryDir folder;
        const QString out = folder.filePath(QStringLiteral("none.trainyard.json"));
        const Answer answer =
            run(quick({ QStringLiteral("--min-tokens-per-s"), QStringLiteral("1e12"), QStringLiteral("--out"), out }));
        QCOMPARE(answer.exitCode, 1);
        QVERIFY(!QFile::exists(out));
        QVERIFY(answer.out.find("No plan of this space keeps the constraints (proven)") != std::string::npos);
        // By how much the nearest misses it.
        QVERIFY2(answer.out.find("tokens/s, asked for 1.00T") != std::string::npos, answer.out.c_str());
    }

    /// A search that was cut off has proven nothing, and says what came nearest.
    void aSearchThatIsNotFinishedEndsWithFour()
    {
        const QStringList arguments { QStringLiteral("optimize"), sampleFile("llama-3-70b-three-regions"),
            QStringLiteral("--max-days"), QStringLiteral("1"), QStringLiteral("--seconds"), QStringLiteral("0.5") };
        const Answer table = run(arguments);
        QCOMPARE(table.exitCode, 4);
        QVERIFY(table.out.find("(proven)") == std::string::npos);
        QVERIFY2(table.out.find("not finished") != std::string::npos, table.out.c_str());
        QVERIFY2(table.out.find(" days, allowed 1;") != std::string::npos, table.out.c_str());
        const Answer answer = run(arguments + QStringList { QStringLiteral("--format"), QStringLiteral("json") });
        QCOMPARE(answer.exitCode, 4);
        const json found = json::parse(answer.out);
        QVERIFY(found["best"].empty() && !found["complete"].get<bool>());
        QCOMPARE(found["nearest"]["state"].get<std::string>(), std::string("out-of-constraint"));
        QVERIFY(found["nearest"]["shortfall"].get<std::string>().starts_with("needs "));
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
        const Answer answer = run(QStringList { QStringLiteral("optimize"), sampleFile("mixed-lab") } + arguments);
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(answer.err.contains(says), qPrintable(answer.err));
        QVERIFY(answer.out.empty());
    }

    void secondsAreKeptAndTheBestIsTold()
    {
        const Answer answer = run({ QStringLiteral("optimize"), sampleFile("llama-3-70b-three-regions"),
            QStringLiteral("--seconds"), QStringLiteral("0.5"), QStringLiteral("--format"), QStringLiteral("json") });
        QCOMPARE(answer.exitCode, 0);
        const json found = json::parse(answer.out);
        QVERIFY(!found["best"].empty() && !found["complete"].get<bool>());
    }

    /// The best so far, and the exit code of shells.
    void interruptedItTellsTheBestSoFar()
    {
        Terminal terminal;
        QProcess process;
        terminal.serve(process);
        process.start(QStringLiteral(TRAINYARD_CLI),
            { QStringLiteral("optimize"), sampleFile("llama-3-70b-three-regions"), QStringLiteral("--seconds"),
                QStringLiteral("100"), QStringLiteral("--format"), QStringLiteral("json") });
        QVERIFY(process.waitForStarted());
        QVERIFY2(terminal.waitFor(process, QRegularExpression("best [1-9]")), qPrintable(terminal.text()));
        ::kill(pid_t(process.processId()), SIGINT);
        const Answer answer = answerOf(process);
        QCOMPARE(answer.exitCode, 130);
        const json found = json::parse(answer.out);
        QVERIFY(found["stopped"].get<bool>() && !found["best"].empty());
    }
};

TRAINYARD_GUILESS_TEST(TstOptimize)
#include "tst_optimize.moc"
