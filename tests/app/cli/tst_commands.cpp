// SPDX-License-Identifier: GPL-3.0-or-later
// The program itself, run as a script would run it: answers, exit codes, and what bad input is told.

#include "tests/app/cli/program.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <cmath>

using nlohmann::json;
using namespace trainyard::test;

namespace {

/// A measured profile: four stages in two datacenters, 10 ms forward and 20 ms backward, eight micro-batches.
json profilePlan()
{
    return json::parse(R"({
      "format": "trainyard.plan", "version": 1, "name": "profile",
      "cluster": {
        "datacenters": [
          { "id": "a", "pools": [ { "id": "a-a100", "gpu": "a100-sxm-80gb", "nodes": 2, "gpus_per_node": 1 } ] },
          { "id": "b", "pools": [ { "id": "b-a100", "gpu": "a100-sxm-80gb", "nodes": 2, "gpus_per_node": 1 } ] } ],
        "wan_links": [ { "between": ["a", "b"], "rtt_ms": 10, "capacity_gbps": 100, "node_pair_gbps": 5 } ] },
      "workload": { "model": "llama-3-8b", "sequence_length": 2048, "global_batch": 8 },
      "parallelism": { "pipeline": 4, "data": 1 },
      "placement": { "stages": [ { "datacenter": "a", "stages": 2 }, { "datacenter": "b", "stages": 2 } ] },
      "profile": { "forward_ms": 10, "backward_ms": 20, "activation_mb": 1 } })");
}

QByteArray bytes(const json &plan)
{
    return QByteArray::fromStdString(plan.dump());
}

int lineCount(const QString &text)
{
    return int(text.trimmed().split(u'\n').size());
}

int lineCount(const std::string &text)
{
    return lineCount(QString::fromStdString(text));
}

bool isWithin(double value, double expected, double share)
{
    return std::abs(value - expected) <= share * std::abs(expected);
}

} // namespace

class TstCommands : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        QVERIFY(m_folder->isValid());
    }

    void helpAndVersionSucceed()
    {
        const Answer help = run(words("--help")), version = run(words("--version"));
        QCOMPARE(help.exitCode, 0);
        QCOMPARE(version.exitCode, 0);
        QVERIFY(version.out.starts_with("trainyard-cli "));
        for (const char *command : { "evaluate", "compare", "explain", "fit", "rok", "sweep", "report", "export",
                 "import", "telemetry", "catalog", "schema", "validate" }) {
            QVERIFY2(help.out.find(command) != std::string::npos, command);
            QCOMPARE(run({ QLatin1String(command), QStringLiteral("--help") }).exitCode, 0);
        }
    }

    void badUsageIsTwo()
    {
        const QString path = plan(profilePlan());
        QCOMPARE(run({}).exitCode, 2);
        QCOMPARE(run(words("evaluat")).exitCode, 2);
        QCOMPARE(run(words("evaluate")).exitCode, 2);
        QCOMPARE(run(words("evaluate --format xml") << path).exitCode, 2);
        QCOMPARE(run(words("compare") << path).exitCode, 2);
        const Answer odt = run(words("report --out") << file("r.odt") << path);
        QCOMPARE(odt.exitCode, 2);
        QVERIFY2(odt.err.contains(QLatin1String(".html, .pdf")), qPrintable(odt.err));
        QCOMPARE(run(words("report --out") << file("r.pdf") << path << path).exitCode, 2);
    }

    void aPlanIsReadFromAFileOrFromStandardInput()
    {
        const Answer fromFile = run(words("evaluate --format json") << plan(profilePlan()));
        QVERIFY2(fromFile.exitCode == 0, qPrintable(fromFile.err));
        QVERIFY(fromFile.err.isEmpty());
        const Answer fromInput = run(words("evaluate - --format json"), bytes(profilePlan()));
        QCOMPARE(fromInput.exitCode, 0);
        QCOMPARE(json::parse(fromFile.out)["iteration_time_s"].get<double>(),
            json::parse(fromInput.out)["iteration_time_s"].get<double>());
    }

    void oneFOneBOfAProfileTakesItsClosedForm()
    {
        // Without transfers: (m + p - 1) (f + b) = (8 + 4 - 1) * 30 ms = 330 ms.
        json near = profilePlan();
        near["cluster"]["wan_links"][0]["rtt_ms"] = 0.0001;
        near["profile"]["activation_mb"] = 0.000001;
        QVERIFY(isWithin(evaluated(near)["iteration_time_s"].get<double>(), 0.330, 1e-3));
        // One way of the WAN is 5 ms, and is waited for at least once each way.
        QVERIFY(evaluated(profilePlan())["iteration_time_s"].get<double>() > 0.340);
    }

    void theBreakdownAddsUpToTheIteration()
    {
        const json metrics = evaluated(profilePlan());
        double sum = 0;
        for (const auto &part : metrics["breakdown_s"])
            sum += part.get<double>();
        QVERIFY(isWithin(sum, metrics["iteration_time_s"].get<double>(), 1e-3));
    }

    void settingAKeyChangesTheAnswer()
    {
        const double before = evaluated(profilePlan())["iteration_time_s"].get<double>();
        const Answer after =
            run(words("evaluate --format json --set workload.global_batch=16 --set cluster.wan_links[0].rtt_ms=20")
                << plan(profilePlan()));
        QVERIFY2(after.exitCode == 0, qPrintable(after.err));
        // Eight micro-batches more, 30 ms each.
        QVERIFY(json::parse(after.out)["iteration_time_s"].get<double>() >= before + 0.24);
    }

    // A pair of L4 beside an A6000 that is alone: 2 + 1 GPUs, and the degree is a key once its entry is there.
    void tensorGroupsOfAPoolAreSetOnTheCommandLine()
    {
        const QString lab = QStringLiteral(TRAINYARD_SOURCE_DIR) + QStringLiteral("/samples/mixed-lab.trainyard.json");
        const QStringList pair = words("evaluate --format json --set parallelism.pipeline=1 --set parallelism.data=2 "
                                       "--set heterogeneity.compute=balanced")
            << QStringLiteral("--set")
            << QStringLiteral(R"(heterogeneity.assign=[{"datacenter": "lab", "pool": "lab-l4", "tensor": 1}])")
            << QStringLiteral("--set") << QStringLiteral("heterogeneity.assign[0].tensor=2") << lab;
        const Answer answer = run(pair);
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        const json metrics = json::parse(answer.out);
        std::map<std::string, std::pair<int, int>> groups; // of each pool, degree and GPUs
        for (const auto &device : metrics["memory"]["per_device"])
            groups[device["pool"]] = { device["tensor"].get<int>(), device["ranks"].get<int>() };
        QCOMPARE(groups["lab-l4"], std::pair(2, 2));
        QCOMPARE(groups["lab-a6000"], std::pair(1, 1));
        const Answer none =
            run(words("evaluate --set parallelism.pipeline=1 --set heterogeneity.assign[0].tensor=2") << lab);
        QCOMPARE(none.exitCode, 2); // there is no entry yet
    }

    void anUnknownKeyNamesTheNearest()
    {
        const Answer answer = run(words("evaluate --set parallelism.pipelin=8") << plan(profilePlan()));
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(
            answer.err.contains(QRegularExpression(QStringLiteral("parallelism.pipeline\\b"))), qPrintable(answer.err));
        QCOMPARE(lineCount(answer.err), 1);
        QVERIFY(answer.out.empty());
        QCOMPARE(run(words("evaluate --set pipeline") << plan(profilePlan())).exitCode, 2);
    }

    void theReleaseOfAStackIsNamedOnTheCommandLine()
    {
        json moe =
            json::parse(R"({"cluster": {"datacenters": [{"id": "a", "pools": [{"gpu": "gb300-278gb", "nodes": 1}]}]},
          "workload": {"model": "qwen3-30b-a3b", "sequence_length": 4096, "global_batch": 64, "precision": "mxfp8", "micro_batch": 8},
          "parallelism": {"data": 8, "expert": 8}})");
        const auto evaluated = [&](const char *release) {
            return json::parse(run(
                words("evaluate - --format json --set") << QStringLiteral("stack.release=") + QLatin1String(release),
                bytes(moe))
                                   .out);
        };
        const json unnamed = evaluated("null"), older = evaluated("26.04"), newer = evaluated("26.06");
        QVERIFY(newer["iteration_time_s"].get<double>() < older["iteration_time_s"].get<double>());
        const auto width = [](const json &j) {
            return (j["confidence"]["iteration_time_high_s"].get<double>()
                       - j["confidence"]["iteration_time_low_s"].get<double>())
                / j["iteration_time_s"].get<double>();
        };
        QVERIFY(width(unnamed) > width(newer));
        QVERIFY(unnamed["confidence"]["note"].get<std::string>().ends_with("name stack.release"));
        QVERIFY(newer["confidence"]["note"].is_null());
        const Answer unknown = run(words("evaluate - --set stack.release=1.0"), bytes(moe));
        QCOMPARE(unknown.exitCode, 2);
        QVERIFY2(unknown.err.contains("26.02.01") && unknown.err.contains("release"), qPrintable(unknown.err));
        moe["stack"] = { { "base", "megatron-core" }, { "release", 26.04 } };
        QCOMPARE(run(words("evaluate -"), bytes(moe)).exitCode, 2); // a number could not tell 26.1 from 26.10
    }

    /// One after the other each would be refused: key-value heads divide heads.
    void keysThatFitEachOtherOnlyTogetherAreSetTogether()
    {
        const QString sample = QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/ssdtrain-bert-2xa100.trainyard.json");
        const QStringList both = words("evaluate --set workload.model.heads=64 --set workload.model.kv_heads=64")
            << sample;
        QCOMPARE(run(both).exitCode, 0);
        QCOMPARE(run(words("evaluate --set workload.model.heads=64") << sample).exitCode, 2);
        const Answer bad = run(words("evaluate --set parallelism.pipelin=8 --set workload.microbatch=2") << sample);
        QCOMPARE(lineCount(bad.err), 2); // every key that is wrong, at once
    }

    void badJsonIsToldByLineAndColumn()
    {
        const QString path = write("broken.json", "{\n  \"format\": \"trainyard.plan\",\n  \"version\" 1\n}");
        const Answer answer = run(words("evaluate") << path);
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(
            answer.err.contains(QRegularExpression(QStringLiteral("broken\\.json:3:\\d+: "))), qPrintable(answer.err));
        QCOMPARE(lineCount(answer.err), 1);
    }

    void badValuesAreToldByPointerAllAtOnce()
    {
        json bad = profilePlan();
        bad["cluster"]["datacenters"][0]["pools"][0]["nodes"] = -3;
        bad["workload"]["precision"] = "fp12";
        const Answer answer = run(words("evaluate -"), bytes(bad));
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(answer.err.contains(QLatin1String("/cluster/datacenters/0/pools/0/nodes")), qPrintable(answer.err));
        QVERIFY2(answer.err.contains(QLatin1String("/workload/precision")), qPrintable(answer.err));
        QVERIFY2(answer.err.contains(QLatin1String("bf16")), qPrintable(answer.err));
        QCOMPARE(lineCount(answer.err), 2);
    }

    void anUnknownGpuNamesTheNearest()
    {
        json bad = profilePlan();
        bad["cluster"]["datacenters"][0]["pools"][0]["gpu"] = "a100-sxm-80g";
        const Answer answer = run(words("evaluate -"), bytes(bad));
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(answer.err.contains(QLatin1String("a100-sxm-80gb")), qPrintable(answer.err));
    }

    void aMissingFileIsBadInput()
    {
        const Answer answer = run(words("evaluate") << file("absent.json"));
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(answer.err.contains(QLatin1String("absent.json")), qPrintable(answer.err));
        QCOMPARE(lineCount(answer.err), 1);
    }

    void aFaultInAnotherFileNamesThatFile()
    {
        // file:line of the trace, the path of the model as it is: neither is a key of the plan.
        json filled = profilePlan();
        filled["bubble_fill"] = { { "enabled", true }, { "model", "llama-3-8b" }, { "arrivals", "trace" },
            { "trace", "bad.csv" } };
        const QString trace = write("bad.csv", "time_s,prompt_tokens\n1,2\n3,four\n");
        const Answer inTrace = run(words("evaluate") << plan(filled));
        QCOMPARE(inTrace.exitCode, 2);
        QVERIFY2(inTrace.err.startsWith(trace + QStringLiteral(":3: ")), qPrintable(inTrace.err));
        QVERIFY2(!inTrace.err.contains(QLatin1String("/csv")), qPrintable(inTrace.err));
        filled["bubble_fill"] = { { "enabled", true }, { "model", "/no/config.json" } };
        const Answer inModel = run(words("evaluate") << plan(filled));
        QCOMPARE(inModel.exitCode, 2);
        QVERIFY2(inModel.err.startsWith(QStringLiteral("/no/config.json: ")), qPrintable(inModel.err));
        filled["bubble_fill"]["model"] = "lama-3-8b";
        const Answer inPlan = run(words("evaluate") << plan(filled));
        QVERIFY2(inPlan.err.contains(QLatin1String(": /bubble_fill/model: ")), qPrintable(inPlan.err));
    }

    void anInfeasiblePlanIsAnAnswerUnlessFeasibilityIsAskedFor()
    {
        QCOMPARE(run(words("evaluate --require-feasible") << plan(profilePlan())).exitCode, 0);
        json tooBig = profilePlan();
        tooBig["parallelism"]["pipeline"] = 8;
        tooBig.erase("placement");
        const QString path = plan(tooBig);
        const Answer answer = run(words("evaluate --format json") << path);
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        const json metrics = json::parse(answer.out);
        QCOMPARE(metrics["feasible"].get<bool>(), false);
        QVERIFY(!metrics["problems"].empty());
        QVERIFY(metrics["iteration_time_s"].is_null());
        QCOMPARE(run(words("evaluate --require-feasible") << path).exitCode, 1);
    }

    void theTraceHoldsTheWholeIteration()
    {
        const QString out = file("trace.json");
        const Answer answer = run(words("evaluate --trace") << out << plan(profilePlan()));
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        const json trace = json::parse(read(out).toStdString());
        double compute = 0, last = 0;
        for (const json &event : trace["traceEvents"]) {
            if (event["ph"] != "X")
                continue;
            if (event["cat"] == "forward" || event["cat"] == "backward")
                compute += event["dur"].get<double>();
            last = std::max(last, event["ts"].get<double>() + event["dur"].get<double>());
        }
        // Four stages, eight micro-batches, 30 ms each, in microseconds.
        QVERIFY(std::abs(compute - 4 * 8 * 30e3) < 1);
        QVERIFY(std::abs(last * 1e-6 - evaluated(profilePlan())["iteration_time_s"].get<double>()) < 1e-6);
    }

    void exportWritesWhatEvaluateWrites()
    {
        const QString path = plan(profilePlan()), trace = file("t.json"), table = file("t.csv");
        QCOMPARE(run(words("evaluate --trace") << trace << QStringLiteral("--timeline") << table << path).exitCode, 0);
        QCOMPARE(QByteArray::fromStdString(run(words("export --to chrome-trace") << path).out), read(trace));
        QCOMPARE(QByteArray::fromStdString(run(words("export --to csv") << path).out), read(table));
        QVERIFY(read(table).startsWith("datacenter,pipeline_class,"));
    }

    void nothingIsLeftBehindWhereTheFolderIsMissing()
    {
        const QString path = plan(profilePlan());
        for (const QStringList &arguments : { words("report --out") << file("none/report.html") << path,
                 words("evaluate --trace") << file("none/t.json") << path }) {
            const Answer answer = run(arguments);
            QCOMPARE(answer.exitCode, 2);
            QVERIFY2(answer.err.contains(QLatin1String("none/")), qPrintable(answer.err));
            QVERIFY(answer.out.empty());
        }
        QVERIFY(!QFile::exists(file("none")));
    }

    void aFaultyPlanLeavesAnOlderReportUntouched()
    {
        const QString out = write("report.html", "older");
        QCOMPARE(run(words("report --out") << out << file("absent.json")).exitCode, 2);
        QCOMPARE(read(out), QByteArray("older"));
        QCOMPARE(run(words("report --out") << out << plan(profilePlan())).exitCode, 0);
        QVERIFY(read(out).startsWith("<!DOCTYPE html>"));
        QCOMPARE(run(words("report --out") << file("report.md") << plan(profilePlan())).exitCode, 0);
        QVERIFY(read(file("report.md")).startsWith("# profile"));
        QVERIFY(QDir(m_folder->path()).entryList({ QStringLiteral("*.part*") }).isEmpty());
    }

    void plansAreComparedInEveryFormat()
    {
        json other = profilePlan();
        other["name"] = "slower";
        other["profile"]["forward_ms"] = 20;
        const QString first = plan(profilePlan()), second = write("slower.json", bytes(other));
        const Answer asJson = run(words("compare --format json") << first << second);
        QVERIFY2(asJson.exitCode == 0, qPrintable(asJson.err));
        const json plans = json::parse(asJson.out)["plans"];
        QCOMPARE(plans.size(), std::size_t(2));
        QVERIFY(plans[1]["change"]["iteration_time_s"].get<double>() > 0.2);
        QCOMPARE(lineCount(run(words("compare --format csv") << first << second).out), 3);
        QVERIFY(run(words("compare") << first << QStringLiteral("-"), bytes(other)).out.find("slower")
            != std::string::npos);
    }

    void aSessionStandsForItsVariantsBaselineFirst()
    {
        json other = profilePlan(), session;
        other["profile"]["forward_ms"] = 20;
        session["format"] = "trainyard.session";
        session["version"] = 1;
        session["variants"] = { { { "id", "v1" }, { "name", "slower" }, { "plan", other } },
            { { "id", "v2" }, { "name", "as it is" }, { "plan", profilePlan() } } };
        session["baseline"] = "v2";
        const QString path = write("m.trainyard-session", bytes(session));
        const Answer answer = run(words("compare --format json") << path);
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        const json plans = json::parse(answer.out)["plans"];
        QCOMPARE(plans.size(), std::size_t(2));
        QCOMPARE(plans[0]["name"].get<std::string>(), std::string("as it is"));
        QVERIFY(plans[1]["change"]["iteration_time_s"].get<double>() > 0.2);
        session["variants"].erase(0);
        const Answer alone = run(words("compare") << write("one.trainyard-session", bytes(session)));
        QCOMPARE(alone.exitCode, 2);
        QVERIFY2(alone.err.contains(QLatin1String("one plan alone")), qPrintable(alone.err));
    }

    void theExplanationFillsTheIteration()
    {
        const Answer answer = run(words("explain --format json") << plan(profilePlan()));
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        const json why = json::parse(answer.out);
        const double iteration = why["iteration_time_s"].get<double>();
        // Work on the critical path and the transit between it fill the iteration …
        double sum = why["critical_path"]["in_transit_s"].get<double>();
        for (const auto &kind : why["critical_path"]["by_kind"])
            sum += kind["seconds"].get<double>();
        QVERIFY(isWithin(sum, iteration, 1e-3));
        // … and so do every stage's own seconds.
        QCOMPARE(why["stages"].size(), std::size_t(4));
        for (const auto &stage : why["stages"]) {
            double own = 0;
            for (const char *part :
                { "compute_s", "bubble_s", "wan_s", "pipeline_s", "reduce_s", "optimizer_s", "offload_s" })
                own += stage[part].get<double>();
            QVERIFY(isWithin(own, iteration, 1e-3));
        }
        QVERIFY(!why["better_parts"].empty());
        QCOMPARE(run(words("explain") << plan(profilePlan())).exitCode, 0);
    }

    /// 70 billion parameters at 18 bytes on eight GPUs of 80 GB: states must be sharded at least.
    void fitNamesTheStepsAndWritesAPlanThatFits()
    {
        const json tooLarge = json::parse(R"({ "format": "trainyard.plan", "version": 1, "name": "Large",
          "cluster": { "datacenters": [ { "id": "a", "pools": [ { "id": "p", "gpu": "h100-sxm-80gb", "nodes": 1 } ] } ] },
          "workload": { "model": "llama-3-70b", "sequence_length": 4096, "global_batch": 16 },
          "parallelism": { "tensor": 1, "zero_stage": 0 } })");
        const QString path = plan(tooLarge), fitting = file("fitting.json");
        const Answer answer = run(words("fit --format json --out") << fitting << path);
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        const json told = json::parse(answer.out);
        QVERIFY(told["fits"].get<bool>());
        QVERIFY(!told["steps"].empty());
        QVERIFY(!told["tight"].get<bool>());
        QVERIFY(told["device_bytes"].get<double>() <= 0.95 * told["capacity_bytes"].get<double>());
        for (const auto &step : told["steps"])
            QVERIFY(step["freed_bytes"].get<double>() > 0 && !step["sentence"].get<std::string>().empty()
                && !step["changes"].empty());
        const Answer after = run(words("evaluate --format json") << fitting);
        QVERIFY2(after.exitCode == 0, qPrintable(after.err));
        QVERIFY(json::parse(after.out)["feasible"].get<bool>());
        QVERIFY(json::parse(after.out)["memory"]["fits"].get<bool>());
        QVERIFY(json::parse(after.out)["name"] == json("Large, made to fit"));
        QVERIFY(run(words("fit") << path).out.find("Fits after") != std::string::npos);
        QVERIFY(run(words("fit") << fitting).out.find("The plan fits") != std::string::npos);
    }

    void theExplanationRanksDatacenters()
    {
        const QString sample = QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/llama-3-70b-three-regions.trainyard.json");
        const Answer answer = run(words("explain --format json") << sample);
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        const json selection = json::parse(answer.out)["datacenter_selection"];
        QVERIFY(selection["options"].size() > 2);
        double before = 1e300;
        int current = 0;
        for (const auto &option : selection["options"]) {
            QVERIFY(option["cells"].get<int>() >= 1);
            if (option["feasible"].get<bool>()) {
                QVERIFY(option["sequences_per_s"].get<double>() <= before); // best first
                before = option["sequences_per_s"].get<double>();
            }
            current += option["current"].get<bool>();
        }
        QCOMPARE(current, 1);
        const Answer table = run(words("explain") << sample);
        QVERIFY(table.out.find("datacenters and their stages") != std::string::npos);
        QVERIFY(table.out.find("current plan") != std::string::npos);
        // One datacenter: nothing to rank
        QVERIFY(json::parse(run(words("explain --format json")
            << QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/gpt3-175b-1024-a100.trainyard.json"))
                                .out)["datacenter_selection"]
                    .is_null());
    }

    void theCatalogueIsListed_data()
    {
        QTest::addColumn<QString>("what");
        QTest::addColumn<int>("atLeast");
        QTest::newRow("gpus") << QStringLiteral("gpus") << 25;
        QTest::newRow("models") << QStringLiteral("models") << 25;
        QTest::newRow("links") << QStringLiteral("links") << 5;
        QTest::newRow("prices") << QStringLiteral("prices") << 25;
        QTest::newRow("schedules") << QStringLiteral("schedules") << 17;
    }

    void theCatalogueIsListed()
    {
        QFETCH(QString, what);
        QFETCH(int, atLeast);
        const Answer answer = run(words("catalog --format json") << what);
        QCOMPARE(answer.exitCode, 0);
        const json list = json::parse(answer.out)[what.toStdString()];
        QVERIFY(int(list.size()) >= atLeast);
        // A heading and a rule above one line each.
        QCOMPARE(lineCount(run(words("catalog") << what).out), int(list.size()) + 2);
    }

    void theSchemasAreJson()
    {
        for (const char *what : { "plan", "metrics", "recording" }) {
            const Answer answer = run({ QStringLiteral("schema"), QLatin1String(what) });
            QCOMPARE(answer.exitCode, 0);
            QVERIFY(json::parse(answer.out).contains("properties"));
        }
    }

private:
    [[nodiscard]] QString file(const char *name) const { return m_folder->filePath(QLatin1String(name)); }
    QString write(const char *name, const QByteArray &content) const
    {
        QFile out(file(name));
        if (!out.open(QIODevice::WriteOnly) || out.write(content) != content.size())
            qFatal("cannot write %s", name);
        return out.fileName();
    }
    QString plan(const json &value) const { return write("plan.trainyard.json", bytes(value)); }
    static QByteArray read(const QString &path)
    {
        QFile in(path);
        return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
    }
    json evaluated(const json &value) const
    {
        const Answer answer = run(words("evaluate --format json") << plan(value));
        if (answer.exitCode != 0)
            qWarning("%s", qPrintable(answer.err));
        return answer.exitCode == 0 ? json::parse(answer.out)
                                    : json::parse(R"({"iteration_time_s": 0, "breakdown_s": {}})");
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

TRAINYARD_APPLESS_TEST(TstCommands)
#include "tst_commands.moc"
