// SPDX-License-Identifier: GPL-3.0-or-later
// Plans with jobs at the command line: every format of every command, and what commands about an iteration answer.
#include "tests/app/cli/program.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

using nlohmann::json;
using trainyard::test::Answer, trainyard::test::run, trainyard::test::words;

namespace {

const QString kSample = QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/hydra-lab.trainyard.json");

/// Measured units on four GPUs: two jobs of three units a mini-batch, 1 s each, ten and four mini-batches.
json measured()
{
    return json::parse(R"({
      "format": "trainyard.plan", "version": 1, "name": "measured",
      "cluster": { "datacenters": [ { "id": "lab", "pools": [ { "id": "v100", "gpu": "v100-sxm-32gb", "nodes": 1,
        "gpus_per_node": 4, "host": { "memory_gib": 488, "gbytes_per_s_per_gpu": 12 } } ] } ] },
      "workload": {},
      "jobs": [ { "name": "long", "model": "opt-350m", "batch": 4, "minibatches": 10, "unit_ms": [1000, 1000, 1000] },
                { "name": "short", "model": "opt-350m", "batch": 4, "minibatches": 4, "deadline_s": 100,
                  "unit_ms": [1000, 1000, 1000] } ] })");
}

QByteArray bytes(const json &plan)
{
    return QByteArray::fromStdString(plan.dump());
}

QStringList lines(const std::string &text)
{
    return QString::fromStdString(text).split(u'\n', Qt::SkipEmptyParts);
}

bool says(const Answer &answer, const char *part)
{
    return answer.err.contains(QLatin1String(part));
}

} // namespace

class TstJobs : public QObject {
    Q_OBJECT

private slots:
    /// A job of 10 mini-batches of 3 units of 1 s ends after 30 s and the first load, which no buffer hides.
    void evaluatePrintsWhatJobsComeTo()
    {
        const Answer answer = run(words("evaluate - --format json"), bytes(measured()));
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        const json metrics = json::parse(answer.out), jobs = metrics["jobs"];
        QVERIFY(metrics["iteration_time_s"].is_null() && metrics["feasible"].get<bool>());
        QCOMPARE(jobs["per_job"].size(), 2U);
        QCOMPARE(jobs["per_job"][0]["work_s"].get<double>(), 30.0);
        QCOMPARE(jobs["per_job"][0]["shards"].get<int>(), 2); // 2K - 1 = 3
        QCOMPARE(jobs["bound_longest_s"].get<double>(), 30.0);
        QCOMPARE(jobs["bound_shared_s"].get<double>(), 42.0 / 4);
        QVERIFY(jobs["makespan_s"].get<double>() >= 30 && jobs["makespan_s"].get<double>() < 36);
        QCOMPARE(jobs["makespan_s"].get<double>(), jobs["per_job"][0]["end_s"].get<double>());
        QVERIFY(jobs["per_job"][1]["measured"].get<bool>());
    }

    void evaluatePrintsARowAJob()
    {
        const Answer answer = run(words("evaluate -"), bytes(measured()));
        QCOMPARE(answer.exitCode, 0);
        const QStringList all = lines(answer.out);
        QCOMPARE(all.filter(QRegularExpression(QStringLiteral("^(long|short) "))).size(), 2);
        for (const char *part : { "All jobs done after", "100 s, met", "measured times", "lab, node 0" })
            QVERIFY2(answer.out.find(part) != std::string::npos, answer.out.c_str());
        QVERIFY2(answer.out.find("Iteration") == std::string::npos, answer.out.c_str());
    }

    void everyFormatIsPrinted()
    {
        const Answer csv = run(words("evaluate - --format csv"), bytes(measured()));
        QCOMPARE(csv.exitCode, 0);
        QCOMPARE(lines(csv.out).size(), 3);
        QVERIFY(lines(csv.out)[0].startsWith(QLatin1String("name,state,why,start_s,end_s,")));
        QVERIFY(lines(csv.out)[2].startsWith(QLatin1String("short,runs,,")));
        const Answer markdown = run(words("evaluate - --format md"), bytes(measured()));
        QCOMPARE(markdown.exitCode, 0);
        QVERIFY(markdown.out.find("### Jobs") != std::string::npos && markdown.out.starts_with("# measured"));
        json plain = measured();
        plain.erase("jobs");
        plain["workload"] = { { "model", "gpt-3-1.3b" }, { "global_batch", 8 } };
        plain["parallelism"] = { { "tensor", 4 } };
        const Answer table = run(words("evaluate - --format csv"), bytes(plain));
        QCOMPARE(table.exitCode, 0);
        QVERIFY(table.out.starts_with("name,source,feasible,iteration_time_s,"));
        QCOMPARE(run(words("evaluate - --format md"), bytes(plain)).exitCode, 0);
    }

    void keysOfJobsAreSetBeforeEvaluating()
    {
        const auto jobsOf = [](const QStringList &settings) {
            const Answer answer = run(words("evaluate - --format json") + settings, bytes(measured()));
            return answer.exitCode == 0 ? json::parse(answer.out)["jobs"] : json();
        };
        QCOMPARE(jobsOf(words("--set jobs[0].minibatches=20"))["bound_longest_s"].get<double>(), 60.0);
        QCOMPARE(jobsOf(words("--set jobs[0].paused=true"))["run"].get<int>(), 1);
        QCOMPARE(jobsOf(words("--set jobs[1].deadline_s=2"))["late"].get<int>(), 1);
        QVERIFY(jobsOf(words("--set jobs[0].pinned_gpus=[3]"))["per_job"][0]["ran_on"] == json::array({ 3 }));
        QVERIFY(jobsOf(words("--set job_options.double_buffer=false"))["makespan_s"].get<double>()
            > jobsOf({})["makespan_s"].get<double>());
        QCOMPARE(jobsOf(words("--set job_grid.model=[\"gpt-3-1.3b\",\"gpt-3-2.7b\"]"))["count"].get<int>(), 4);
    }

    void faultsNameTheirPlace()
    {
        const auto answerTo = [](const QStringList &settings) {
            return run(words("evaluate -") + settings, bytes(measured()));
        };
        const Answer even = answerTo(words("--set jobs[0].unit_ms=[1,2]"));
        QCOMPARE(even.exitCode, 2);
        QVERIFY2(says(even, "/jobs/0/unit_ms") && says(even, "2K - 1"), qPrintable(even.err));
        const Answer unknown = answerTo(words("--set jobs[1].model=gpt-9"));
        QCOMPARE(unknown.exitCode, 2);
        QVERIFY2(says(unknown, "jobs/1/model"), qPrintable(unknown.err));
        const Answer twice = answerTo(words("--set jobs[1].name=long"));
        QVERIFY2(twice.exitCode == 2 && says(twice, "/jobs/1/name"), qPrintable(twice.err));
        const Answer scheduler = answerTo(words("--set job_scheduler=longest"));
        QVERIFY2(scheduler.exitCode == 2 && says(scheduler, "sharded-lrtf"), qPrintable(scheduler.err));
    }

    /// A model of which no layer fits: a result, with a reason.
    void aJobThatCannotRunIsAResult()
    {
        json plan = measured();
        plan["jobs"] = json::array({ { { "name", "huge" }, { "model", "gpt-3-175b" }, { "batch", 4 } } });
        const Answer answer = run(words("evaluate - --format json"), bytes(plan));
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        const json metrics = json::parse(answer.out);
        QVERIFY(!metrics["feasible"].get<bool>() && metrics["jobs"]["makespan_s"].is_null());
        QCOMPARE(metrics["jobs"]["per_job"][0]["state"].get<std::string>(), std::string("cannot-run"));
        QVERIFY(!metrics["jobs"]["per_job"][0]["why"].get<std::string>().empty());
        QCOMPARE(run(words("evaluate - --require-feasible"), bytes(plan)).exitCode, 1);
        for (const char *command : { "evaluate -", "evaluate - --format md", "evaluate - --format csv" })
            QCOMPARE(run(words(command), bytes(plan)).exitCode, 0);
    }

    void plansWithJobsAreComparedByWhatAllTake()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("fifo.trainyard.json"));
        json slow = measured();
        slow["job_options"] = { { "double_buffer", false } };
        slow["name"] = "no buffer";
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(bytes(slow)) > 0);
        file.close();
        const Answer table = run(words("compare -") << path, bytes(measured()));
        QVERIFY2(table.exitCode == 0, qPrintable(table.err));
        for (const char *part : { "All jobs done after", "job ends after", "Double buffer off" })
            QVERIFY2(table.out.find(part) != std::string::npos, table.out.c_str());
        const json both = json::parse(run(words("compare - --format json") << path, bytes(measured())).out);
        QVERIFY(both["plans"][1]["change"]["jobs.makespan_s"].get<double>() > 0);
        const QStringList csv = lines(run(words("compare - --format csv") << path, bytes(measured())).out);
        QVERIFY(csv.size() == 3 && csv[0].contains(QLatin1String(",jobs.makespan_s,")));
    }

    void timelinesAndReportsAreWritten()
    {
        QTemporaryDir folder;
        const QString trace = folder.filePath(QStringLiteral("t.json")),
                      html = folder.filePath(QStringLiteral("r.html"));
        QCOMPARE(run(words("export --to chrome-trace --out") << trace << kSample).exitCode, 0);
        QCOMPARE(run(words("report --out") << html << kSample).exitCode, 0);
        QFile traced(trace), page(html);
        QVERIFY(traced.open(QIODevice::ReadOnly) && page.open(QIODevice::ReadOnly));
        const json events = json::parse(traced.readAll().toStdString());
        QVERIFY(events["traceEvents"].size() > 1000);
        QVERIFY(page.readAll().contains("<h3>Jobs</h3>"));
        const Answer csv = run(words("export --to csv -"), bytes(measured()));
        QVERIFY(csv.out.starts_with("datacenter,gpu,stream,job,kind,minibatch,shard,bytes,start_ns,end_ns\n"));
        QVERIFY(csv.out.find("compute,long,forward,0,0,") != std::string::npos);
        const Answer again = run(words("evaluate --format json") << html); // the plan in the page
        QVERIFY2(again.exitCode == 0, qPrintable(again.err));
        QCOMPARE(json::parse(again.out)["jobs"]["count"].get<int>(), 12);
    }

    void explainRefusesWhatIsOfTheRankingOfDatacenters()
    {
        const Answer objective = run(words("explain - --objective cost"), bytes(measured()));
        QVERIFY2(objective.exitCode == 2 && says(objective, "--objective"), qPrintable(objective.err));
        const Answer batches = run(words("explain - --micro-batches 4"), bytes(measured()));
        QVERIFY2(batches.exitCode == 2 && says(batches, "--micro-batches"), qPrintable(batches.err));
    }

    void explainComparesWhatCouldBeDoneWithJobs()
    {
        for (const char *command : { "explain -", "explain - --jobs" }) { // one answer
            const Answer answer = run(words(command), bytes(measured()));
            QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
            for (const char *part : { "Longest remaining first", "First in, first out", "over model parallel",
                     "min(4, 2) = 2×", "what each part is worth", "more and fewer GPUs", "one GPU more" })
                QVERIFY2(answer.out.find(part) != std::string::npos, answer.out.c_str());
        }
        const json all = json::parse(run(words("explain - --format json"), bytes(measured())).out);
        const json own = json::parse(run(words("evaluate - --format json"), bytes(measured())).out)["jobs"];
        QCOMPARE(all["schedulers"][0]["scheduler"].get<std::string>(), std::string("sharded-lrtf"));
        QCOMPARE(all["schedulers"][0]["makespan_s"].get<double>(), own["makespan_s"].get<double>());
        QVERIFY(all["schedulers"].size() >= 7);
        double before = 0; // with fewer GPUs it never takes less
        for (const json &variant : all["scaling"]) {
            QVERIFY(before == 0 || variant["makespan_s"].get<double>() <= before * 1.01);
            before = variant["makespan_s"].get<double>();
        }
        QCOMPARE(all["scaling"].back()["gpus"].get<int>(), 4);
        QCOMPARE(all["one_more_gpu"][0]["gpus"].get<int>(), 5);
    }

    void withoutJobsThereIsNothingToCompare()
    {
        json plain = measured();
        plain.erase("jobs");
        plain["workload"] = { { "model", "opt-350m" }, { "global_batch", 8 } };
        const Answer answer = run(words("explain - --jobs"), bytes(plain));
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(says(answer, "stdin: /jobs") && says(answer, "has none"), qPrintable(answer.err));
    }

    void commandsAboutAnIterationSayThatThereIsNone()
    {
        for (const char *command : { "fit -", "rok -", "explain - --baselines" }) {
            const Answer answer = run(words(command), bytes(measured()));
            QCOMPARE(answer.exitCode, 2);
            QVERIFY2(says(answer, "stdin: /jobs") && says(answer, "trains jobs"), qPrintable(answer.err));
            QVERIFY(answer.out.empty());
        }
    }
};

TRAINYARD_APPLESS_TEST(TstJobs)
#include "tst_jobs.moc"
