// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of jobs from an evaluation made by hand: places in the time that all take, deadlines, and the distance to the
// bound.
#include "models/job_rows.h"
#include "models/text/duration.h"
#include "models/text/job_names.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;

namespace {

Plan threeJobs()
{
    Plan plan;
    for (const char *name : { "first", "second", "third" }) {
        Job job;
        job.name = name;
        job.model = "gpt-3-1.3b";
        job.batch = 16;
        job.minibatches = 1500;
        plan.jobs.push_back(job);
    }
    plan.jobs[0].deadlineS = 60;
    plan.jobs[1].deadlineS = 60;
    plan.jobs[1].epochs = 3;
    plan.jobs[2].paused = true;
    plan.jobs[2].deadlineS = 60;
    return plan;
}

Evaluation evaluated(const Plan &plan)
{
    Evaluation e;
    e.plan = std::make_shared<const Plan>(plan);
    JobMetrics m;
    m.makespan = 80;
    m.bound = 64;
    m.boundShared = 64;
    m.boundLongest = 50;
    m.gpuUtilization = 0.8;
    m.usd = 1.5;
    m.hostPeak = std::int64_t(300e9);
    m.hosts = { { 0, 0, 0, 256e9, std::int64_t(100e9), {} }, { 0, 0, 1, 512e9, std::int64_t(300e9), {} } };
    m.perJob.resize(3);
    for (std::size_t i = 0; i < 3; ++i)
        m.perJob[i].name = plan.jobs[i].name;
    m.perJob[0].start = 0;
    m.perJob[0].end = 60;
    m.perJob[0].shards = 4;
    m.perJob[0].gpus = 1;
    m.perJob[0].ranOn = { 0, 1, 2, 5 };
    m.perJob[0].usd = 0.5;
    m.perJob[1].start = 20;
    m.perJob[1].end = 80;
    m.perJob[1].gpus = 1;
    m.perJob[1].ranOn = { 1 };
    m.perJob[2].state = JobState::Paused;
    e.metrics.jobs = m;
    return e;
}

} // namespace

class JobRowsTest : public QObject {
    Q_OBJECT

private slots:
    void aBarIsTheShareOfTheMakespanInWhichAJobRuns()
    {
        const Plan plan = threeJobs();
        const Evaluation e = evaluated(plan);
        const JobTable table = jobTable(plan, &e);
        QCOMPARE(table.rows.size(), std::size_t(3));
        QCOMPARE(table.rows[0].from, 0.0);
        QCOMPARE(table.rows[0].to, 0.75); // 60 / 80
        QCOMPARE(table.rows[1].from, 0.25); // 20 / 80
        QCOMPARE(table.rows[1].to, 1.0);
        QCOMPARE(table.rows[2].to, 0.0); // it does not run
        QCOMPARE(table.rows[0].endText, QStringLiteral("60.0 s"));
        QCOMPARE(table.rows[0].minibatchText, QStringLiteral("1,500"));
        QCOMPARE(table.rows[1].minibatchText, QStringLiteral("1,500 × 3"));
        QVERIFY2(table.rows[0].facts.contains(QStringLiteral("GPUs 0–2, 5")), qPrintable(table.rows[0].facts));
        QVERIFY(table.rows[0].facts.contains(QStringLiteral("4 shards")));
    }

    void aDeadlineIsMetByTheEndOfTheJobAlone()
    {
        const Plan plan = threeJobs();
        const Evaluation e = evaluated(plan);
        const JobTable table = jobTable(plan, &e);
        QCOMPARE(table.rows[0].deadlineState, DeadlineState::Met); // 60 <= 60
        QCOMPARE(table.rows[1].deadlineState, DeadlineState::Missed); // 80 > 60
        QCOMPARE(table.rows[2].deadlineState, DeadlineState::Unknown); // paused
        QCOMPARE(table.summary.counts, QStringLiteral("3 jobs, 1 paused, 1 late"));
        const JobTable before = jobTable(plan, nullptr);
        QCOMPARE(before.rows[0].deadlineState, DeadlineState::Unknown);
        QVERIFY(!before.rows[0].isKnown && before.rows[0].endText.isEmpty() && before.summary.makespan.isEmpty());
        QCOMPARE(before.rows[2].state, JobState::Paused); // what the plan itself says is known at once
    }

    void theDistanceToTheBoundIsAShareOfIt()
    {
        const Plan plan = threeJobs();
        Evaluation e = evaluated(plan);
        QCOMPARE(*aboveBound(*e.metrics.jobs), 0.25); // 80 / 64 - 1
        QCOMPARE(jobTable(plan, &e).summary.distance, QStringLiteral("25.0 % above the bound"));
        e.metrics.jobs->makespan = 64;
        QCOMPARE(jobTable(plan, &e).summary.distance, QStringLiteral("at the bound"));
        e.metrics.jobs->bound.reset();
        QVERIFY(!aboveBound(*e.metrics.jobs));
        QVERIFY(jobTable(plan, &e).summary.distance.isEmpty());
    }

    void theFullestHostIsWeighedAgainstItsOwnMemory()
    {
        const Plan plan = threeJobs();
        Evaluation e = evaluated(plan);
        QCOMPARE(fullestHostCapacity(*e.metrics.jobs), 512e9);
        const JobSummary summary = jobTable(plan, &e).summary;
        QCOMPARE(summary.host, QStringLiteral("300 GB of 512 GB"));
        QVERIFY(!summary.isHostOverfull);
        e.metrics.jobs->hosts[1].capacity = 0; // nobody states it
        QCOMPARE(jobTable(plan, &e).summary.host, QStringLiteral("300 GB"));
    }

    void jobsAreFoundByNameWhileAnotherPlanIsTried()
    {
        const Plan plan = threeJobs();
        const Evaluation e = evaluated(plan);
        Plan reordered = plan;
        std::swap(reordered.jobs[0], reordered.jobs[1]);
        const JobTable table = jobTable(reordered, &e);
        QCOMPARE(table.rows[0].name, QStringLiteral("second"));
        QCOMPARE(table.rows[0].to, 1.0);
        reordered.jobs[0].name = "new";
        QVERIFY(!jobTable(reordered, &e).rows[0].isKnown);
    }

    void aJobThatCannotRunSaysWhy()
    {
        const Plan plan = threeJobs();
        Evaluation e = evaluated(plan);
        e.metrics.jobs->perJob[0].state = JobState::CannotRun;
        e.metrics.jobs->perJob[0].why = "Layer 3 is larger than a GPU.";
        const JobTable table = jobTable(plan, &e);
        QCOMPARE(table.rows[0].why, QStringLiteral("Layer 3 is larger than a GPU."));
        QCOMPARE(table.summary.cannotRun, 1);
        QVERIFY(table.summary.counts.contains(QStringLiteral("1 cannot run")));
    }

    void shortNamesKeepWhatTellsJobsApart()
    {
        const QStringList grid { "gpt-3-1.3b, batch 16, 0.0003, 1024 tokens",
            "gpt-3-6.7b, batch 16, 0.0003, 1024 tokens", "gpt-3-6.7b, batch 16, 0.001, 1024 tokens" };
        QCOMPARE(shortJobNames(grid), (QStringList { "1.3b · 0.0003", "6.7b · 0.0003", "6.7b · 0.001" }));
        // One difference alone keeps its word, and a name of its own is not shortened.
        QCOMPARE(shortJobNames({ "gpt-3-1.3b, batch 8", "gpt-3-1.3b, batch 16", "mine" }),
            (QStringList { "batch 8", "batch 16", "mine" }));
        // What would read alike stays whole.
        const QStringList alike { "a, x", "a, y", "b, c, x", "b, c, y" };
        QCOMPARE(shortJobNames(alike), alike);
        QCOMPARE(shortJobNames({ "gpt-3-1.3b, batch 8" }), QStringList { "gpt-3-1.3b, batch 8" });
        QVERIFY(shortJobNames({}).isEmpty());
        Plan plan = threeJobs();
        for (std::size_t j = 0; j < 3; ++j)
            plan.jobs[j].name = "gpt-3-1.3b, batch " + std::to_string(8 << j);
        const JobRow row = jobTable(plan, nullptr).rows[1];
        QCOMPARE(row.name, QStringLiteral("gpt-3-1.3b, batch 16")); // it is known by its whole name
        QCOMPARE(row.shortName, QStringLiteral("batch 16"));
    }

    void durationsReadBackAsTheyAreWritten()
    {
        QCOMPARE(formatDuration(41.2), QStringLiteral("41.2 s"));
        QCOMPARE(formatDuration(750), QStringLiteral("12.5 min"));
        QCOMPARE(formatDuration(5.4 * 3600), QStringLiteral("5.40 h"));
        QCOMPARE(formatDuration(10 * 86400), QStringLiteral("10.0 days"));
        for (const double seconds : { 0.25, 60.0, 750.0, 7200.0, 19440.0, 864000.0 })
            QCOMPARE(*durationOf(formatDuration(seconds)), seconds);
        QCOMPARE(*durationOf(QStringLiteral("90")), 90.0);
        QCOMPARE(*durationOf(QStringLiteral(" 2 hours ")), 7200.0);
        for (const char *wrong : { "", "soon", "0", "-3 s", "5 weeks", "1e999" })
            QVERIFY(!durationOf(QString::fromLatin1(wrong)));
    }
};

TRAINYARD_APPLESS_TEST(JobRowsTest)
#include "tst_job_rows.moc"
