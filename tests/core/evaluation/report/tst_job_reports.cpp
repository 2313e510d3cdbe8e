// SPDX-License-Identifier: GPL-3.0-or-later
// What every report says of a plan with jobs: the same numbers, and nothing of an iteration.
#include "core/base/number_text.h"
#include "core/evaluation/evaluate/metrics/gpu_use.h"
#include "core/evaluation/report/chrome_trace.h"
#include "core/evaluation/report/comparison.h"
#include "core/evaluation/report/html_report.h"
#include "core/evaluation/report/job_text.h"
#include "core/evaluation/report/markdown_report.h"
#include "core/evaluation/report/metric_lookup.h"
#include "core/evaluation/report/metric_rows.h"
#include "core/evaluation/report/metrics_json.h"
#include "core/evaluation/report/metrics_table.h"
#include "core/evaluation/report/report_parts.h"
#include "core/evaluation/report/timeline_csv.h"
#include "core/facts/plan/plan_io.h"
#include "tests/core/evaluation/report/job_sample.h"
#include "tests/support/json_schema.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QRegularExpression>
#include <QTest>
#include <QXmlStreamReader>

#include <numeric>
#include <set>
#include <sstream>

using namespace trainyard;
using test::Json;

namespace {

bool has(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

std::vector<NamedEvaluation> plans(std::initializer_list<EvaluationPtr> evaluations)
{
    std::vector<NamedEvaluation> named;
    for (const EvaluationPtr &evaluation : evaluations)
        named.push_back({ evaluation->plan->name, "p.json", evaluation });
    return named;
}

/// The sample with double speed.
std::shared_ptr<Evaluation> fasterSample()
{
    auto faster = test::jobSample();
    Plan plan = test::jobPlan();
    plan.name = "Faster";
    plan.jobScheduler = JobScheduler::Fifo;
    faster->plan = std::make_shared<const Plan>(plan);
    faster->metrics.jobs->makespan = 2.5;
    faster->metrics.jobs->perJob[1].end = 2.5;
    return faster;
}

/// Of so many jobs, of which the last but one is late.
JobMetrics manyJobs(int count)
{
    JobMetrics jobs;
    for (int i = 0; i < count; ++i)
        jobs.perJob.push_back({ .name = "job " + std::to_string(i), .start = 0.0, .end = double(i + 1) });
    jobs.perJob[std::size_t(count - 2)].deadline = 0.5;
    return jobs;
}

QString svgFault(const std::string &html)
{
    static const QRegularExpression picture(
        QStringLiteral("<svg.*?</svg>"), QRegularExpression::DotMatchesEverythingOption);
    for (auto all = picture.globalMatch(QString::fromStdString(html)); all.hasNext();) {
        QXmlStreamReader reader(all.next().captured());
        while (!reader.atEnd())
            reader.readNext();
        if (reader.hasError())
            return reader.errorString();
    }
    return {};
}

} // namespace

class TstJobReports : public QObject {
    Q_OBJECT

private slots:
    void metricsHaveTheNamesOfTheContract()
    {
        const Json jobs = Json::parse(metricsJson(*test::jobSample()))["jobs"];
        for (const char *key : { "makespan_s", "bound_s", "gpu_utilization", "host_peak_bytes", "usd", "per_job" })
            QVERIFY2(jobs.contains(key), key);
        for (const char *key : { "name", "start_s", "end_s", "gpus", "technique", "shards", "slowdown" })
            QVERIFY2(jobs["per_job"][0].contains(key), key);
        QCOMPARE(jobs["makespan_s"].get<double>(), 5.0);
        QCOMPARE(jobs["bound_shared_s"].get<double>(), 4.0);
        QCOMPARE(jobs["loaded_bytes"].get<double>(), 4e9); // 2 + 2
        QCOMPARE(jobs["run"].get<int>(), 2);
        QCOMPARE(jobs["late"].get<int>(), 1);
        QVERIFY(jobs["per_job"][1]["ran_on"] == Json({ 0, 1 }));
        QCOMPARE(jobs["per_job"][1]["technique"].get<std::string>(), std::string("shard-parallel"));
        QCOMPARE(jobs["hosts"][0]["capacity_bytes"].get<double>(), 100e9);
        QCOMPARE(jobs["hosts"][0]["pool"].get<std::string>(), std::string("lab-v100"));
    }

    void whatDoesNotApplyIsNull()
    {
        QVERIFY(Json::parse(metricsJson(*test::sampleEvaluation()))["jobs"].is_null());
        const Json document = Json::parse(metricsJson(*test::jobSample()));
        for (const char *key : { "iteration_time_s", "tokens_per_s", "breakdown_s", "mfu", "wan" })
            QVERIFY2(document[key].is_null(), key);
        for (const int i : { 2, 3 })
            for (const char *key : { "start_s", "end_s", "gpus", "technique", "shards", "slowdown", "usd" })
                QVERIFY2(document["jobs"]["per_job"][std::size_t(i)][key].is_null(), key);
        QCOMPARE(document["jobs"]["per_job"][2]["state"].get<std::string>(), std::string("paused"));
        QCOMPARE(document["jobs"]["per_job"][3]["state"].get<std::string>(), std::string("cannot-run"));
        QVERIFY(document["jobs"]["per_job"][0]["why"].is_null() && document["jobs"]["per_job"][3]["why"].is_string());
        auto whole = test::jobSample(); // nobody counts what pipelines move
        for (JobResult &job : whole->metrics.jobs->perJob)
            job.technique = JobTechnique::Pipeline;
        const Json pipelines = Json::parse(metricsJson(*whole))["jobs"];
        QVERIFY(pipelines["loaded_bytes"].is_null() && pipelines["per_job"][0]["loaded_bytes"].is_null());
        auto unknown = test::jobSample();
        unknown->metrics.jobs->hosts[0].capacity = 0; // nobody states it
        unknown->metrics.jobs->makespan.reset();
        const Json open = Json::parse(metricsJson(*unknown))["jobs"];
        QVERIFY(open["hosts"][0]["capacity_bytes"].is_null() && open["makespan_s"].is_null());
    }

    /// Key by key, both ways, and of the types that it names.
    void theSchemaIsThatOfWhatIsWritten()
    {
        const Json schema = Json::parse(metricsSchema()), document = Json::parse(metricsJson(*test::jobSample()));
        QVERIFY(test::accepts(schema, document));
        std::set<std::string> named, written;
        test::addSchemaPaths(schema["properties"]["jobs"], "jobs", named);
        test::addPaths(document["jobs"], "jobs", written);
        QCOMPARE(written, named);
    }

    void metricsOfJobsAreFoundByTheirNames()
    {
        QVERIFY(checkMetricName("jobs.makespan_s") && checkMetricName("jobs.per_job[1].end_s"));
        const std::vector<std::string_view> names { "jobs.makespan_s", "jobs.per_job[1].end_s",
            "jobs.per_job[2].end_s" };
        const std::vector<Metric> values = metricValues(*test::jobSample(), names);
        QCOMPARE(values[0], Metric(5.0));
        QCOMPARE(values[1], Metric(5.0));
        QVERIFY(!values[2]);
    }

    void rowsOfJobsComeBeforeThoseOfAnIteration()
    {
        const auto rows = metricRows(*test::jobSample(), true);
        QCOMPARE(rows.front().key, std::string("jobs.makespan_s"));
        QCOMPARE(valueText(rows.front()), std::string("5.00 s"));
        for (const MetricRow &row : rows)
            if (row.key == "jobs.makespan_over_bound")
                QCOMPARE(*row.value, 1.25);
        for (const MetricRow &row : metricRows(*test::sampleEvaluation(), true))
            QVERIFY2(!row.key.starts_with("jobs.") || !row.value, row.key.c_str());
        for (const MetricRow &row : metricRows(*test::sampleEvaluation())) // as ever
            QVERIFY2(!row.key.starts_with("jobs."), row.key.c_str());
    }

    void theTableHasARowAJobAndNoneOfAnIteration()
    {
        const std::string table = metricsTable(*test::jobSample());
        for (const char *part :
            { "Two jobs", "All jobs done after", "No schedule by shards is shorter than", "compute of the longest job",
                "Price of it all", "Longest remaining first, double buffers: 2 run, 1 paused, 1 cannot run, 1 late",
                "first <&", "4.00 s, 1.00 s late", "cannot run: a layer needs 20 GB, a GPU has 16 GB", "measured times",
                "Lab, node 0", "90.0 GB", "allocated at most", "0–1", "90.0 %", "2.00 GB", "$0.20", "1.25×",
                "Job too large cannot run" })
            QVERIFY2(has(table, part), (std::string(part) + "\n" + table).c_str());
        for (const char *part : { "Iteration", "Tokens per second", "Where the iteration goes", "stage" })
            QVERIFY2(!has(table, part), (std::string(part) + "\n" + table).c_str());
    }

    void plansWithoutJobsReadAsEver()
    {
        const EvaluationPtr plain = test::sampleEvaluation();
        for (const std::string &text :
            { metricsTable(*plain), comparisonCsv(plans({ plain, plain })), comparisonJson(plans({ plain })),
                comparisonTable(plans({ plain, plain })), markdownReport(plans({ plain })) })
            QVERIFY2(!has(text, "jobs.") && !has(text, "ob ends") && !has(text, "All jobs"), text.c_str());
    }

    void ofManyJobsThoseAreShownThatStandOut()
    {
        const JobMetrics jobs = manyJobs(1000);
        const std::vector<std::size_t> shown = jobsToShow(jobs, 60);
        QVERIFY(shown.size() <= 60 && std::ranges::is_sorted(shown));
        QCOMPARE(shown.front(), 0U);
        QVERIFY(std::ranges::find(shown, 998U) != shown.end()); // late
        QVERIFY(std::ranges::find(shown, 999U) != shown.end()); // the last to end
        QCOMPARE(jobsToShow(jobs, 1000).size(), 1000U);
        JobMetrics late = manyJobs(1000);
        for (JobResult &job : late.perJob)
            job.deadline = 0.5;
        QCOMPARE(jobsToShow(late, 60).size(), 60U);
        QCOMPARE(jobsToShow(late, 60).back(), 999U);
        auto evaluation = test::jobSample();
        evaluation->metrics.jobs = jobs;
        QVERIFY(has(metricsTable(*evaluation), "… and 940 more"));
        QVERIFY(has(htmlReport(plans({ evaluation })), "and 800 more"));
    }

    void timesOfJobsAreReadAsThatOfDays()
    {
        QCOMPARE(durationText(41.2), std::string("41.2 s"));
        QCOMPARE(durationText(2408), std::string("40.1 min"));
        QCOMPARE(durationText(5.4 * 3600), std::string("5.40 h"));
        QCOMPARE(durationText(86400 * 3.1), std::string("3.10 days"));
    }

    void gpusThatAreAlikeShareARow()
    {
        MemoryMetrics memory = *test::jobSample()->metrics.memory;
        QCOMPARE(gpuRows(memory, 8).size(), 1U);
        QCOMPARE(gpuRows(memory, 8)[0][0], std::string("0–1"));
        memory.perStage[1].peak = memory.perStage[1].device = 20'000'000'000;
        QCOMPARE(gpuRows(memory, 8)[1].back(), std::string("does not fit"));
        QCOMPARE(gpuRows(memory, 1)[1][0], std::string("…"));
    }

    void numbersOfGpusAreRanges()
    {
        QCOMPARE(numbersText({}), std::string("–"));
        QCOMPARE(numbersText({ 3 }), std::string("3"));
        QCOMPARE(numbersText({ 0, 1 }), std::string("0, 1"));
        QCOMPARE(numbersText({ 0, 1, 2, 3, 6 }), std::string("0–3, 6"));
    }

    void aComparisonHasWhatAllTakeAndWhenEachJobEnds()
    {
        const auto two = plans({ test::jobSample(), fasterSample() });
        const std::string table = comparisonTable(two);
        for (const char *part :
            { "All jobs done after", "5.00 s", "2.50 s", "−50.0 %", "job ends after", "Scheduler sharded-lrtf → fifo" })
            QVERIFY2(has(table, part), (std::string(part) + "\n" + table).c_str());
        const Json json = Json::parse(comparisonJson(two));
        QCOMPARE(json["plans"][1]["change"]["jobs.makespan_s"].get<double>(), -0.5);
        QVERIFY(json["plans"][1]["change"]["iteration_time_s"].is_null());
        const QStringList csv = QString::fromStdString(comparisonCsv(two)).split(u'\n', Qt::SkipEmptyParts);
        QCOMPARE(csv.size(), 3);
        QVERIFY(csv[0].startsWith(QLatin1String("name,source,feasible,jobs.makespan_s,")));
        QVERIFY(csv[1].startsWith(QLatin1String("Two jobs,p.json,true,5,4,")));
    }

    void aPlanWithJobsComparesWithOneThatHasNone()
    {
        const auto mixed = plans({ test::jobSample(), test::sampleEvaluation() });
        const std::string table = comparisonTable(mixed), html = htmlReport(mixed), markdown = markdownReport(mixed);
        for (const std::string *text : { &table, &html, &markdown })
            QVERIFY2(has(*text, "All jobs done after") && has(*text, "Iteration"), text->c_str());
    }

    void theTraceHasAThreadAGpuAndColoursByJob()
    {
        std::ostringstream out;
        writeChromeTrace(*test::jobSample(), out);
        std::set<std::string> threads, colours;
        std::vector<Json> spans;
        const Json file = Json::parse(out.str());
        for (const Json &event : file["traceEvents"]) {
            if (event["name"] == "thread_name")
                threads.insert(event["args"]["name"].get<std::string>());
            if (event["ph"] == "X")
                spans.push_back(event);
        }
        QCOMPARE(threads, (std::set<std::string> { "GPU 0", "GPU 1", "GPU 0 ← host", "GPU 0 → host" }));
        QCOMPARE(spans.size(), 5U);
        QCOMPARE(spans[0]["name"].get<std::string>(), std::string("first <&"));
        QCOMPARE(spans[0]["dur"].get<double>(), 3e6); // microseconds
        QCOMPARE(spans[1]["args"]["work"].get<std::string>(), std::string("forward and backward"));
        QCOMPARE(spans[1]["args"]["shard"].get<int>(), 1);
        QCOMPARE(spans[3]["args"]["bytes"].get<double>(), 2e9);
        QVERIFY(spans[3]["cname"] == spans[0]["cname"]); // one job
        QVERIFY(spans[1]["cname"] != spans[0]["cname"]); // another
    }

    void theTableOfSpansNamesJobAndGpu()
    {
        std::ostringstream out;
        writeTimelineCsv(*test::jobSample(), out);
        const QStringList lines = QString::fromStdString(out.str()).split(u'\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 6);
        QCOMPARE(lines[0], QStringLiteral("datacenter,gpu,stream,job,kind,minibatch,shard,bytes,start_ns,end_ns"));
        QCOMPARE(lines[1], QStringLiteral("Lab,0,compute,first <&,forward,0,0,0,1000000000,4000000000"));
        QCOMPARE(lines[4], QStringLiteral("Lab,0,load,first <&,weights to GPU,0,0,2000000000,0,1000000000"));
    }

    void aSpanOfSeveralMinibatchesNamesItsFirst()
    {
        auto evaluation = test::jobSample();
        evaluation->metrics.jobs->minibatchesPerSpan = 10;
        evaluation->timeline.microBatch[0] = 3;
        std::ostringstream out;
        writeTimelineCsv(*evaluation, out);
        QVERIFY(has(out.str(), "compute,first <&,forward,30,0,"));
    }

    void pagesHaveASectionOfJobsWithBars()
    {
        const std::string html = htmlReport(plans({ test::jobSample() }));
        for (const char *part : { "<h3>Jobs</h3>", "When each job runs", "bound 4.00 s", "Timeline of all jobs",
                 "<h3>Jobs in figures</h3>", "<h3>Memory of GPUs</h3>", "Main memory of each host", "first &lt;&amp;",
                 "j-0", "j-1", "GPU 1", "4 jobs · 2 GPUs · 1 datacenter · Longest remaining first, double buffers" })
            QVERIFY2(has(html, part), part);
        for (const char *part : { "first <&", "Timeline of one iteration", "micro-batch", "Iteration</div>" })
            QVERIFY2(!has(html, part), part);
        QCOMPARE(svgFault(html), QString());
        QCOMPARE(reportTiles(*test::jobSample()).size(), 8U);
        const std::string markdown = markdownReport(plans({ test::jobSample() }));
        for (const char *part :
            { "### Jobs", "| second | 0 s | 5.00 s | 2 | 0, 1 |", "### Host memory", "2 run, 1 paused" })
            QVERIFY2(has(markdown, part), (std::string(part) + "\n" + markdown).c_str());
        QVERIFY(!has(markdown, "Tokens per second"));
    }

    /// Pictures are of bounded size, however many spans and jobs there are.
    void picturesOfManyJobsStaySmall()
    {
        const auto size = [](int jobs, int spans) {
            auto evaluation = test::jobSample();
            evaluation->metrics.jobs = manyJobs(jobs);
            evaluation->metrics.jobs->makespan = 1.0;
            Timeline t;
            for (int j = 0; j < jobs; ++j)
                t.classes.push_back({ .job = std::uint32_t(j) });
            for (int i = 0; i < spans; ++i) {
                test::addSpan(t, 0, WorkKind::Forward, 0, i * 1000LL, i * 1000LL + 900);
                t.taskClass.push_back(std::uint32_t(i % jobs));
            }
            t.tracks = { { Stream::Compute, 0, 0, -1, -1, 0, std::uint32_t(spans) } };
            evaluation->timeline = t;
            const std::string html = htmlReport(plans({ evaluation }));
            return svgFault(html).isEmpty() ? html.size() : 0;
        };
        const std::size_t few = size(100, 20'000), many = size(1000, 200'000);
        QVERIFY(few > 0 && many > 0);
        QVERIFY2(many < few + 100'000, qPrintable(QStringLiteral("%1 %2").arg(few).arg(many)));
    }

    /// Of a real evaluation: sum of jobs = what all come to, and spans say the same as metrics.
    void partsOfJobsAddUp()
    {
        const auto plan = readPlan(TRAINYARD_SOURCE_DIR "/samples/hydra-lab.trainyard.json");
        const EvaluationPtr evaluation = test::evaluated(plan.value_or(Plan {}));
        const JobMetrics &jobs = *evaluation->metrics.jobs;
        double end = 0, gpuSeconds = 0, usd = 0, loaded = 0, stored = 0, moved = 0;
        for (const JobResult &job : jobs.perJob) {
            end = std::max(end, *job.end);
            gpuSeconds += job.gpuSeconds;
            usd += *job.usd;
            loaded += job.bytesLoaded, stored += job.bytesStored;
        }
        const Timeline &timeline = evaluation->timeline;
        for (std::uint32_t span = 0; span < timeline.spanCount(); ++span) {
            QVERIFY(jobIndexOf(*evaluation, span) >= 0);
            if (timeline.tracks[timeline.trackOf[span]].stream != Stream::Compute)
                moved += timeline.bytesMoved(span);
        }
        const auto isNear = [](double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); };
        QVERIFY(isNear(end, *jobs.makespan));
        QVERIFY(*jobs.makespan >= *jobs.bound && *jobs.bound == std::max(*jobs.boundShared, *jobs.boundLongest));
        QVERIFY(isNear(gpuSeconds, *jobs.gpuUtilization * evaluation->metrics.gpusTotal * *jobs.makespan));
        QVERIFY(isNear(usd, *jobs.usd));
        QVERIFY(isNear(moved, loaded + stored));
        const std::vector<double> use = fleetUse(*evaluation, 400);
        const double shown = toSeconds(timeline.duration).value; // till the last weights are back in host memory
        QVERIFY(shown >= *jobs.makespan);
        QVERIFY(
            isNear(std::accumulate(use.begin(), use.end(), 0.0) / 400 * shown, *jobs.gpuUtilization * *jobs.makespan));
    }

    void aPlanWhoseJobsCannotRunIsStillReported()
    {
        auto evaluation = test::jobSample();
        evaluation->timeline = {};
        evaluation->metrics.jobs->makespan.reset();
        evaluation->metrics.jobs->bound.reset();
        evaluation->metrics.jobs->perJob.erase(
            evaluation->metrics.jobs->perJob.begin(), evaluation->metrics.jobs->perJob.begin() + 2);
        for (const std::string &text : { htmlReport(plans({ evaluation })), metricsTable(*evaluation),
                 markdownReport(plans({ evaluation })), comparisonTable(plans({ evaluation, evaluation })) })
            QVERIFY(has(text, "too large"));
    }
};

TRAINYARD_APPLESS_TEST(TstJobReports)
#include "tst_job_reports.moc"
