// SPDX-License-Identifier: GPL-3.0-or-later
// What one GPU more buys to the jobs, as it arrives on the GUI thread: each offer against the plan itself.
#include "models/job_advice.h"
#include "tests/support/nothing_under_way.h"
#include "tests/support/test_program.h"

#include "core/evaluation/advice/evaluate.h"

#include <QSignalSpy>
#include <QTest>

using namespace trainyard;

namespace {

PlanPtr fourJobs()
{
    Plan plan;
    Datacenter d;
    d.id = "lab";
    d.name = "Lab";
    Pool pool;
    pool.id = "lab-gpus";
    pool.gpu = "a6000-48gb";
    pool.nodes = 1;
    pool.gpusPerNode = 2;
    pool.host = Host { 512, 20, {} };
    d.pools = { pool };
    plan.cluster.datacenters = { d };
    JobGrid grid;
    grid.model = { "gpt-3-1.3b", "gpt-3-2.7b" };
    grid.batch = { 8, 16 };
    grid.minibatches = { 5 };
    grid.sequenceLength = { 1024 };
    plan.jobGrid = grid;
    return std::make_shared<const Plan>(plan);
}

JobAdvicePtr awaited(QSignalSpy &spy)
{
    return spy.wait(30000) ? spy.last().at(0).value<JobAdvicePtr>() : nullptr;
}

} // namespace

class JobAdviceTest : public QObject {
    Q_OBJECT

private slots:
    void everyOfferIsMeasuredAgainstThePlanItself()
    {
        JobAdviser adviser(builtinCatalogue());
        adviser.setRest(std::chrono::milliseconds(0));
        QSignalSpy spy(&adviser, &JobAdviser::adviceChanged);
        const PlanPtr plan = fourJobs();
        adviser.setPlan(plan);
        adviser.setWatched(true);
        const JobAdvicePtr advice = awaited(spy);
        QVERIFY(advice && advice->plan == plan && advice->makespan);
        QVERIFY(!advice->oneMoreGpu.empty());
        EvaluationWorkspace workspace;
        for (const RankedPart &offer : advice->oneMoreGpu) {
            QCOMPARE(offer.part.plan->cluster.gpus(), plan->cluster.gpus() + 1);
            const auto alone = evaluate(offer.part.plan, builtinCatalogue(), workspace);
            QVERIFY(alone);
            QCOMPARE(*offer.effect.iterationTime, *(*alone)->metrics.jobs->makespan);
            QCOMPARE(*offer.effect.change, *offer.effect.iterationTime / *advice->makespan - 1);
            QVERIFY(offer.effect.isOfJobs);
            QCOMPARE(offer.part.label, std::string("+1 RTX A6000 48 GB in Lab"));
            QCOMPARE(offer.part.sentence, std::string("One RTX A6000 48 GB more in Lab"));
        }
        // four jobs on two GPUs: a third takes work from both
        QVERIFY(*advice->oneMoreGpu.front().effect.change < 0);
    }

    void aPlanWithoutJobsHasNoOffers()
    {
        JobAdviser adviser(builtinCatalogue());
        adviser.setRest(std::chrono::milliseconds(0));
        QSignalSpy spy(&adviser, &JobAdviser::adviceChanged);
        Plan plan = *fourJobs();
        plan.jobGrid.reset();
        adviser.setPlan(std::make_shared<const Plan>(plan));
        adviser.setWatched(true);
        const JobAdvicePtr advice = awaited(spy);
        QVERIFY(advice && advice->oneMoreGpu.empty() && !advice->makespan);
    }

    void nothingIsWorkedOutWhileNobodyLooks()
    {
        JobAdviser adviser(builtinCatalogue());
        adviser.setRest(std::chrono::milliseconds(0));
        QSignalSpy spy(&adviser, &JobAdviser::adviceChanged);
        adviser.setPlan(fourJobs());
        test::untilNothingIsUnderWay();
        QCOMPARE(spy.count(), 0);
        adviser.setWatched(true);
        QVERIFY(awaited(spy));
    }
};

TRAINYARD_GUILESS_TEST(JobAdviceTest)
#include "tst_job_advice.moc"
