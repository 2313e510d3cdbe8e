// SPDX-License-Identifier: GPL-3.0-or-later
// `trainyard-cli validate`, run as a script would run it.

#include "tests/app/cli/program.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <csignal>

using nlohmann::json;
using namespace trainyard::test;

namespace {

Answer validate(const QStringList &arguments)
{
    return run(QStringList { QStringLiteral("validate") } + arguments);
}

/// 0.24 s an iteration: eight micro-batches of 30 ms.
json ownRows()
{
    return json::parse(R"({"format": "trainyard.validation", "version": 1, "source": "our cluster", "base": {
      "cluster": {"datacenters": [{"id": "a", "pools": [{"id": "p", "gpu": "a100-sxm-80gb", "nodes": 1, "gpus_per_node": 1}]}]},
      "workload": {"model": "gpt-3-1.3b", "sequence_length": 2048, "global_batch": 8},
      "profile": {"forward_ms": 10, "backward_ms": 20, "activation_mb": 1}},
      "rows": [{"id": "run, 1", "plan": {}, "published": {"iteration_time_s": 0.2}},
               {"id": "run 2", "plan": {"workload": {"global_batch": 16}}, "published": {"iteration_time_s": 0.48}, "role": "fit"}]})");
}

} // namespace

class TstValidate : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        QVERIFY(m_folder->isValid());
    }

    void jsonHasTheNamesOfTheContract()
    {
        const Answer answer = validate(words("--format json"));
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        QVERIFY(answer.err.isEmpty());
        const json all = json::parse(answer.out);
        QVERIFY(!all["sources"].empty());
        for (const json &source : all["sources"]) {
            QVERIFY(source["source"].is_string() && source["rows"].is_number_integer());
            QVERIFY(
                source["fit_in_memory"]["judged_too_large"].get<int>() <= source["fit_in_memory"]["ran"].get<int>());
            for (const auto &[metric, statistics] : source["metrics"].items()) {
                for (const char *name :
                    { "n", "mean_abs_error", "median_abs_error", "max_abs_error", "bias", "rank_correlation" })
                    QVERIFY2(statistics.contains(name), name);
            }
        }
        QCOMPARE(all["coverage"].size(), 4u);
        for (const json &label : all["coverage"]) {
            const json counted = label["all"];
            QVERIFY(label["label"].is_string() && counted["rows"].get<int>() >= counted["publications"].get<int>());
            for (const char *share : { "inside", "inside_alike" })
                QVERIFY(counted[share].get<double>() > 0 && counted[share].get<double>() <= 1);
            QVERIFY(counted["interval_score"].get<double>() > 0);
        }
        QVERIFY(!all["rows"].empty());
        for (const json &row : all["rows"]) {
            QVERIFY(row["id"].is_string() && row["metric"].is_string() && row["published"].is_number());
            if (row["predicted"].is_number())
                QVERIFY(std::abs(row["error"].get<double>()
                            - (row["predicted"].get<double>() / row["published"].get<double>() - 1))
                    < 1e-12);
        }
        QVERIFY(all["complete"] == json(true));
    }

    void aUsersRowsAreMeasuredAlone()
    {
        const Answer answer = validate(words("--format json --rows") << file(ownRows()));
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        const json all = json::parse(answer.out);
        QCOMPARE(all["sources"].size(), 1u);
        QVERIFY(all["sources"][0]["source"] == json("our cluster"));
        // errors 0.24 / 0.2 - 1 and 0.48 / 0.48 - 1
        const json time = all["sources"][0]["metrics"]["iteration_time_s"];
        QVERIFY(time["n"] == json(2));
        QVERIFY(std::abs(time["mean_abs_error"].get<double>() - 0.1) < 1e-6);
        QVERIFY(std::abs(time["bias"].get<double>() - 0.1) < 1e-6);
        QVERIFY(std::abs(all["rows"][0]["error"].get<double>() - 0.2) < 1e-6);
    }

    void rangesAreJudgedOnAnySourceAlone()
    {
        // The rows of a source get the same ranges alone as among all: its publication is held back either way.
        const json one = json::parse(validate(words("--format json --source simumax_b200")).out);
        QCOMPARE(one["coverage"][0]["label"].get<std::string>(), std::string("same family"));
        QCOMPARE(one["coverage"][0]["all"]["rows"].get<int>(), 22);
        QCOMPARE(one["coverage"][0]["all"]["publications"].get<int>(), 1);
        const Answer table = validate(words("--source simumax_b200"));
        QVERIFY(table.out.find("held back") != std::string::npos && table.out.find("same family") != std::string::npos);
    }

    void tableAndCsvListTheRows()
    {
        const QString path = file(ownRows());
        const Answer table = validate(words("--rows") << path);
        QCOMPARE(table.exitCode, 0);
        QVERIFY(table.out.find("run, 1") != std::string::npos && table.out.find("+20.0 %") != std::string::npos);
        const Answer csv = validate(words("--format csv --rows") << path);
        QCOMPARE(csv.exitCode, 0);
        QVERIFY(csv.out.starts_with("source,group,id,metric,published,predicted,error,status,role"));
        QVERIFY(csv.out.find("our cluster,,\"run, 1\",iteration_time_s,0.2,0.24,0.2,gated,test,") != std::string::npos);
    }

    void rowsAreFilteredByRoleAndSource()
    {
        const QString path = file(ownRows());
        const json fit = json::parse(validate(words("--format json --role fit --rows") << path).out);
        QCOMPARE(fit["rows"].size(), 1u);
        QVERIFY(fit["rows"][0]["id"] == json("run 2"));
        const Answer unknown = validate(
            QStringList { QStringLiteral("--rows"), path, QStringLiteral("--source"), QStringLiteral("our clster") });
        QCOMPARE(unknown.exitCode, 2);
        QVERIFY2(unknown.err.contains(QLatin1String("our cluster")), qPrintable(unknown.err));
        QVERIFY(unknown.out.empty());
    }

    void severalFilesAreReadTogether()
    {
        json other = ownRows();
        other["source"] = "another";
        const json all =
            json::parse(validate(words("--format json --rows") << file(ownRows()) << file(other, "b.json")).out);
        QCOMPARE(all["sources"].size(), 2u);
        QCOMPARE(all["rows"].size(), 4u);
    }

    void badRowsAreTwoWithOneLineAFault()
    {
        json rows = ownRows();
        rows["rows"][0]["published"] = { { "iteration_tme_s", 1 } };
        rows["rows"][1]["plan"]["workload"]["global_batch"] = -1;
        const Answer answer = validate(words("--rows") << file(rows));
        QCOMPARE(answer.exitCode, 2);
        QVERIFY(answer.out.empty());
        const QStringList lines = answer.err.trimmed().split(u'\n');
        QCOMPARE(lines.size(), 2);
        QVERIFY2(lines[0].contains(QLatin1String("/rows/0/published/iteration_tme_s"))
                && lines[0].contains(QLatin1String("iteration_time_s")),
            qPrintable(lines[0]));
        QVERIFY2(lines[1].contains(QLatin1String("/rows/1/plan/workload/global_batch")), qPrintable(lines[1]));
        QCOMPARE(validate(words("--rows /nowhere.json")).exitCode, 2);
        QCOMPARE(validate(words("--format xml")).exitCode, 2);
    }

    void nothingToCompareIsBadInput()
    {
        json rows = ownRows();
        rows["rows"] = json::array();
        const Answer answer = validate(words("--format json --rows") << file(rows));
        QCOMPARE(answer.exitCode, 2);
        QVERIFY(answer.out.empty());
        QCOMPARE(answer.err.trimmed().split(u'\n').size(), 1);
        rows = ownRows();
        rows["rows"].erase(1); // no row of role fit is left
        QCOMPARE(validate(words("--role fit --rows") << file(rows)).exitCode, 2);
    }

    void rowsThatAllFailAreAnAnswerWithExitCodeOne()
    {
        json rows = ownRows();
        for (json &row : rows["rows"])
            row["plan"]["parallelism"] = { { "tensor", 8 } }; // on one GPU
        const Answer answer = validate(words("--format json --rows") << file(rows));
        QVERIFY2(answer.exitCode == 1, qPrintable(answer.err));
        for (const json &row : json::parse(answer.out)["rows"])
            QVERIFY(row["predicted"].is_null() && !row["problem"].is_null());
        rows["rows"][0]["plan"] = json::object(); // one that does not fail is enough
        QCOMPARE(validate(words("--rows") << file(rows)).exitCode, 0);
    }

    void interruptedItStillPrintsValidJson()
    {
        json rows = ownRows();
        for (int i = 0; i < 20'000; ++i) {
            rows["rows"].push_back(rows["rows"][1]);
            rows["rows"].back()["id"] = std::to_string(i);
        }
        QProcess process;
        process.start(QStringLiteral(TRAINYARD_CLI), words("validate --format json --rows") << file(rows));
        QVERIFY(process.waitForStarted());
        // Ctrl-C stops the rows from when they run, on threads of their own; while the file is read it ends the
        // program.
        const auto runsRows = [&] {
            QFile status(QStringLiteral("/proc/%1/status").arg(process.processId()));
            const QByteArray text = status.open(QIODevice::ReadOnly) ? status.readAll() : QByteArray();
            const qsizetype at = text.indexOf("Threads:");
            return at >= 0 && text.mid(at + 8).split('\n').first().trimmed().toInt() > 1;
        };
        QVERIFY(QTest::qWaitFor(runsRows, 30'000));
        ::kill(pid_t(process.processId()), SIGINT);
        QVERIFY(process.waitForFinished(60'000));
        const json all = json::parse(process.readAllStandardOutput().toStdString());
        QCOMPARE(process.exitCode(), 130);
        QVERIFY(all["complete"] == json(false));
        QVERIFY(all["rows"].size() < 20'000);
    }

private:
    QString file(const json &rows, const char *name = "rows.json")
    {
        const QString path = m_folder->filePath(QLatin1String(name));
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly) || file.write(QByteArray::fromStdString(rows.dump())) < 0)
            qFatal("cannot write");
        return path;
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

TRAINYARD_GUILESS_TEST(TstValidate)
#include "tst_validate.moc"
