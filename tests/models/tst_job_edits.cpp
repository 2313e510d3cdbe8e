// SPDX-License-Identifier: GPL-3.0-or-later
// Edits of jobs as pure functions: what the next plan trains, and what undo says.
#include "models/gpu_numbers.h"
#include "models/job_edits.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;

namespace {

Plan twelve()
{
    Plan plan;
    JobGrid grid;
    grid.model = { "gpt-3-1.3b", "gpt-3-2.7b" };
    grid.batch = { 8, 16, 32 };
    grid.learningRate = { 1e-4, 3e-4 };
    grid.minibatches = { 100 };
    plan.jobGrid = grid;
    return plan;
}

std::vector<std::string> names(const Plan &plan)
{
    std::vector<std::string> all;
    for (const Job &job : allJobs(plan))
        all.push_back(job.name);
    return all;
}

} // namespace

class JobEditsTest : public QObject {
    Q_OBJECT

private slots:
    void aGridIsOneEntryOfThePlanUntilOneOfItsJobsIsEdited()
    {
        const JobEdit grid = withGrid(Plan {}, *twelve().jobGrid);
        QCOMPARE(grid.text, QStringLiteral("Add a grid of 12 jobs"));
        QVERIFY(grid.plan->jobs.empty());
        QCOMPARE(jobCount(*grid.plan), 12.0); // 2 models x 3 batches x 2 rates
        const JobEdit paused = withJobsPaused(*grid.plan, { 2 }, true);
        QCOMPARE(paused.text, QStringLiteral("Pause gpt-3-1.3b, batch 16, 0.0001"));
        QVERIFY(!paused.plan->jobGrid);
        QCOMPARE(names(*paused.plan), names(*grid.plan));
        for (int i = 0; i < 12; ++i)
            QCOMPARE(paused.plan->jobs[std::size_t(i)].paused, i == 2);
        QCOMPARE(
            withJobsPaused(*paused.plan, { 2 }, false).text, QStringLiteral("Resume gpt-3-1.3b, batch 16, 0.0001"));
    }

    void expandingAGridChangesNoJob()
    {
        const Plan plan = twelve(), list = withGridExpanded(plan);
        QVERIFY(allJobs(plan) == allJobs(list));
        QVERIFY(!list.jobGrid && list.jobs.size() == 12);
        QVERIFY(withGridExpanded(list) == list);
    }

    void whatChangesNothingIsNoEdit()
    {
        const Plan plan = twelve();
        QVERIFY(!withJobsPaused(plan, { 3 }, false)); // also where the grid would have to be expanded for it
        QVERIFY(!withBatch(plan, { 0, 1 }, 8));
        QVERIFY(!withDeadline(plan, { 5 }, std::nullopt));
        QVERIFY(!withJobMoved(plan, 4, 4));
        QVERIFY(!withJobMoved(plan, 40, 2));
        QVERIFY(!withJobsRemoved(plan, {}));
        QVERIFY(!withScheduler(plan, plan.jobScheduler));
        QVERIFY(!withGrid(plan, {}));
    }

    void jobsThatAreAddedHaveNamesOfTheirOwn()
    {
        Job job;
        job.model = "models/gpt-3-1.3b";
        const JobEdit first = withJobAdded(Plan {}, job);
        QCOMPARE(first.text, QStringLiteral("Add the job gpt-3-1.3b"));
        const JobEdit second = withJobAdded(*first.plan, job);
        QCOMPARE(second.text, QStringLiteral("Add the job gpt-3-1.3b (2)"));
        // before those of a grid, which stays one
        const JobEdit behind = withJobAdded(twelve(), job);
        QVERIFY(behind.plan->jobGrid);
        QCOMPARE(allJobs(*behind.plan).front().name, std::string("gpt-3-1.3b"));
    }

    void aSecondGridGoesBehindTheFirst()
    {
        JobGrid more;
        more.model = { "llama-3-8b" };
        more.batch = { 4, 8 };
        const JobEdit edit = withGrid(twelve(), more);
        const std::vector<std::string> all = names(*edit.plan), before = names(twelve());
        QCOMPARE(all.size(), std::size_t(14));
        QVERIFY(std::equal(before.begin(), before.end(), all.begin()));
        QCOMPARE(edit.plan->jobs.size(), std::size_t(12));
        QCOMPARE(all[12], std::string("llama-3-8b, batch 4"));
    }

    void clonesKeepWhatTheGridDoesNotList()
    {
        Plan plan;
        Job job;
        job.name = "mine";
        job.model = "gpt-3-1.3b";
        job.deadlineS = 60;
        job.priority = 2;
        job.pinnedGpus = { 1 };
        job.unitMs = { 1, 2, 3 };
        job.minibatches = 7;
        plan.jobs = { job, job };
        plan.jobs[1].name = "last";
        JobGrid grid;
        grid.batch = { 2, 4 };
        const JobEdit edit = withClones(plan, 0, grid);
        QCOMPARE(edit.text, QStringLiteral("Clone mine as 2 jobs"));
        QCOMPARE(names(*edit.plan),
            (std::vector<std::string> { "mine", "gpt-3-1.3b, batch 2", "gpt-3-1.3b, batch 4", "last" }));
        for (const int i : { 1, 2 }) {
            const Job &clone = edit.plan->jobs[std::size_t(i)];
            QCOMPARE(clone.batch, 2 * i);
            QCOMPARE(clone.minibatches, 7);
            QCOMPARE(*clone.deadlineS, 60.0);
            QCOMPARE(clone.priority, 2.0);
            QCOMPARE(clone.pinnedGpus, std::vector<int> { 1 });
            QVERIFY(clone.unitMs.empty()); // measured for another batch
        }
    }

    void removingAllOfAGridRemovesTheGrid()
    {
        Plan plan = twelve();
        Job job;
        job.name = "mine";
        job.model = "gpt-3-1.3b";
        plan.jobs = { job };
        std::vector<int> grid;
        for (int i = 1; i <= 12; ++i)
            grid.push_back(i);
        const JobEdit edit = withJobsRemoved(plan, grid);
        QCOMPARE(edit.text, QStringLiteral("Remove 12 jobs"));
        QVERIFY(!edit.plan->jobGrid);
        QCOMPARE(names(*edit.plan), std::vector<std::string> { "mine" });
        const JobEdit one = withJobsRemoved(plan, { 0 });
        QCOMPARE(one.text, QStringLiteral("Remove mine"));
        QVERIFY(one.plan->jobGrid); // its own entry is gone, the grid is what it was
        QVERIFY(!hasJobs(*withJobsRemoved(*one.plan, { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 }).plan));
    }

    void movingIsARotation()
    {
        const Plan plan = twelve();
        const std::vector<std::string> before = names(plan);
        std::vector<std::string> wanted = before;
        std::rotate(wanted.begin() + 1, wanted.begin() + 7, wanted.begin() + 8); // 7 -> 1
        const JobEdit edit = withJobMoved(plan, 7, 1);
        QCOMPARE(names(*edit.plan), wanted);
        QCOMPARE(edit.text, QStringLiteral("Move %1 to place 2").arg(QString::fromStdString(before[7])));
        QCOMPARE(names(*withJobMoved(*edit.plan, 1, 7).plan), before);
        QCOMPARE(withJobMoved(plan, 3, 2).text, QStringLiteral("Move %1 up").arg(QString::fromStdString(before[3])));
        QCOMPARE(names(*withJobMoved(plan, 0, 99).plan).back(), before.front()); // no further than the end
    }

    void aNameThatTellsTheBatchTellsTheNewOne()
    {
        const JobEdit edit = withBatch(twelve(), { 0 }, 64);
        QCOMPARE(edit.text, QStringLiteral("Batch of gpt-3-1.3b, batch 8, 0.0001 8 → 64"));
        QCOMPARE(edit.plan->jobs[0].name, std::string("gpt-3-1.3b, batch 64, 0.0001"));
        // "batch 8" is no part of "batch 80"
        Plan plan;
        Job job;
        job.name = "m, batch 80";
        job.model = "m";
        job.batch = 8;
        plan.jobs = { job };
        QCOMPARE(withBatch(plan, { 0 }, 9).plan->jobs[0].name, std::string("m, batch 80"));
        // and two that get the same batch keep different names
        const JobEdit both = withBatch(twelve(), { 0, 2 }, 64);
        QCOMPARE(both.text, QStringLiteral("Batch of 2 jobs → 64"));
        QVERIFY(both.plan->jobs[0].name != both.plan->jobs[2].name);
    }

    void eachFieldSaysWhatItBecomes()
    {
        const Plan plan = withGridExpanded(twelve());
        const QString name = QStringLiteral("gpt-3-1.3b, batch 8, 0.0001");
        QCOMPARE(withMinibatches(plan, { 0 }, 50).text, QStringLiteral("Mini-batches of %1 100 → 50").arg(name));
        QCOMPARE(withEpochs(plan, { 0, 1 }, 3).text, QStringLiteral("Epochs of 2 jobs 1 → 3"));
        QCOMPARE(withDeadline(plan, { 0 }, 90).text, QStringLiteral("Deadline of %1 90.0 s").arg(name));
        QCOMPARE(withDeadline(*withDeadline(plan, { 0 }, 90).plan, { 0 }, {}).text,
            QStringLiteral("No deadline for %1").arg(name));
        QCOMPARE(withPriority(plan, { 0 }, 5).text, QStringLiteral("Priority of %1 0 → 5").arg(name));
        QCOMPARE(withPins(plan, { 0 }, { 3 }).text, QStringLiteral("Pin %1 to GPU 3").arg(name));
        QCOMPARE(withPins(plan, { 0 }, { 3, 1, 2, 2 }).text, QStringLiteral("Pin %1 to GPUs 1–3").arg(name));
        QCOMPARE(withPins(plan, { 0 }, { 3, 1, 2, 2 }).plan->jobs[0].pinnedGpus, (std::vector<int> { 1, 2, 3 }));
        QCOMPARE(withPins(*withPins(plan, { 0 }, { 3 }).plan, { 0 }, {}).text,
            QStringLiteral("Let %1 run on any GPU").arg(name));
        QCOMPARE(withScheduler(plan, JobScheduler::Fifo).text,
            QStringLiteral("Scheduler Longest remaining first → First in, first out"));
        QCOMPARE(jobNamed(plan, name), 0);
        QCOMPARE(jobNamed(plan, QStringLiteral("nobody")), -1);
    }

    void numbersOfGpusReadBackAsTheyAreWritten()
    {
        QCOMPARE(gpuNumbersText({ 0, 1, 2, 3, 8 }), QStringLiteral("0–3, 8"));
        QCOMPARE(gpuNumbersText({ 4, 5 }), QStringLiteral("4, 5"));
        for (const std::vector<int> &gpus : { std::vector<int> {}, { 0 }, { 0, 1, 2, 3, 8 }, { 1, 3, 5, 6 } })
            QVERIFY(gpuNumbers(gpuNumbersText(gpus), 9) == gpus);
        QCOMPARE(
            *gpuNumbers(QStringLiteral(" 8, 3-1 , 0"), 9).or_else([] { return std::optional(std::vector { -1 }); }),
            std::vector<int> { -1 }); // a range that runs backwards
        QCOMPARE(*gpuNumbers(QStringLiteral("8; 0 - 2, 1"), 9), (std::vector<int> { 0, 1, 2, 8 }));
        QVERIFY(!gpuNumbers(QStringLiteral("9"), 9));
        QVERIFY(!gpuNumbers(QStringLiteral("first"), 9));
        QVERIFY(!gpuNumbers(QStringLiteral("999999999999"), 9));
    }

    void nodesAreNumberedThroughTheCluster()
    {
        Plan plan;
        Datacenter lab;
        lab.id = "lab";
        Pool a;
        a.gpu = "a100-sxm-80gb";
        a.nodes = 2;
        a.gpusPerNode = 4;
        Pool b = a;
        b.nodes = 1;
        b.gpusPerNode = 2;
        lab.pools = { a, b };
        plan.cluster.datacenters = { lab };
        const std::vector<NodeGpus> nodes = nodesOf(plan);
        QCOMPARE(nodes.size(), std::size_t(3));
        QCOMPARE(nodes[1].first, 4);
        QCOMPARE(nodes[2].first, 8);
        QCOMPARE(nodes[2].count, 2);
        QVERIFY2(nodes[0].place.endsWith(QStringLiteral("node 1")), qPrintable(nodes[0].place));
    }
};

TRAINYARD_APPLESS_TEST(JobEditsTest)
#include "tst_job_edits.moc"
