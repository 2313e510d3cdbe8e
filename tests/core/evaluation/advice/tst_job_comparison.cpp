// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/job_comparison.h"
#include "core/facts/plan/enum_names.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <set>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Six jobs of two models, of which neither fits a V100 in single precision, on one machine.
Plan hydra(int gpus = 4)
{
    Plan plan;
    plan.cluster.datacenters = { site("a", 1, "v100-sxm-16gb", gpus) };
    plan.cluster.datacenters[0].pools[0].host = Host { 488, 6, {} };
    for (int i = 0; i < 6; ++i) {
        Job job;
        job.name = "job " + std::to_string(i);
        job.model = i % 2 == 0 ? "gpt-3-1.3b" : "gpt-3-2.7b";
        job.batch = 4;
        job.minibatches = 12;
        job.sequenceLength = 1024;
        job.precision = Precision::Fp32;
        job.optimizer = Optimizer::Sgd;
        plan.jobs.push_back(job);
    }
    return plan;
}

PlanPtr shared(Plan plan)
{
    return std::make_shared<const Plan>(std::move(plan));
}

struct Bench {
    EvaluationWorkspace workspace;
    RunContext context { builtinCatalogue(), workspace };

    Metric makespan(const PlanPtr &plan)
    {
        const auto answer = run(plan, Depth::Score, context);
        return answer && (*answer)->metrics.jobs ? (*answer)->metrics.jobs->makespan : std::nullopt;
    }
};

const JobVariant *of(const std::vector<JobVariant> &variants, JobScheduler scheduler)
{
    const auto found =
        std::ranges::find_if(variants, [&](const JobVariant &v) { return v.plan->jobScheduler == scheduler; });
    return found == variants.end() ? nullptr : &*found;
}

} // namespace

class TestJobComparison : public QObject {
    Q_OBJECT
private slots:
    void everySchedulerIsRunOnceThePlansOwnFirst()
    {
        Bench bench;
        Plan plan = hydra();
        plan.jobScheduler = JobScheduler::Fifo;
        const PlanPtr own = shared(plan);
        const auto variants = jobSchedulers(own, bench.context, false);
        QVERIFY(variants.front().plan == own);
        QCOMPARE(variants.front().name, std::string("First in, first out"));
        std::set<JobScheduler> seen;
        for (const JobVariant &variant : variants) {
            QVERIFY(seen.insert(variant.plan->jobScheduler).second);
            QCOMPARE(variant.name, std::string(labelOf(variant.plan->jobScheduler)));
            QVERIFY(variant.evaluation != nullptr);
            if (variant.makespan()) {
                QCOMPARE(*variant.makespan(), *bench.makespan(variant.plan)); // as evaluating that plan says
                QVERIFY(!variant.evaluation->timeline.isEmpty()); // to be drawn
                QVERIFY(*variant.makespan() >= *variant.evaluation->metrics.jobs->bound * (1 - 1e-9));
            } else {
                QVERIFY(!variant.note.empty()); // why there is none
            }
        }
        for (const JobScheduler each : { JobScheduler::ShardedLrtf, JobScheduler::Random, JobScheduler::ModelParallel,
                 JobScheduler::TaskParallel, JobScheduler::Pipeline, JobScheduler::ZeroOffload })
            QVERIFY(seen.contains(each));
        QVERIFY(!seen.contains(JobScheduler::ShardMilp));
    }

    void solversRunWhereTheyAreAskedFor()
    {
        Bench bench;
        Plan plan = hydra(2);
        plan.jobs.resize(3);
        for (Job &job : plan.jobs)
            job.minibatches = 1;
        plan.jobOptions.seconds = 2;
        const auto variants = jobSchedulers(shared(plan), bench.context, true);
        const JobVariant *solved = of(variants, JobScheduler::ShardMilp);
        QVERIFY(solved != nullptr && solved->makespan());
        QVERIFY(*solved->makespan() <= *variants.front().makespan());
    }

    void shardsOfAllJobsBeatOneJobAtATime()
    {
        Bench bench;
        const auto variants = jobSchedulers(shared(hydra()), bench.context, false);
        const JobVariant *serial = of(variants, JobScheduler::ModelParallel);
        QVERIFY(serial != nullptr && serial->makespan());
        QVERIFY(*serial->makespan() > 1.5 * *variants.front().makespan()); // published: towards min(G, n) = 4
    }

    void eachPartOfHydraIsWorthSomething()
    {
        Bench bench;
        const PlanPtr own = shared(hydra());
        const auto parts = jobAblation(own, bench.context);
        QCOMPARE(parts.size(), std::size_t(3));
        QVERIFY(*parts[0].makespan() > *parts[1].makespan());
        QVERIFY(*parts[1].makespan() > *parts[2].makespan());
        QVERIFY(parts[2].plan == own); // the plan as it is
        QCOMPARE(*parts[2].makespan(), *bench.makespan(own));
        // SHARP on G GPUs is at most G times as fast as one of them
        QVERIFY(*parts[0].makespan() <= 4 * *parts[1].makespan() * (1 + 1e-6));
        QVERIFY(parts[1].plan->jobOptions.doubleBuffer == false && parts[0].plan->cluster.gpus() == 1);
    }

    /// Each by the cuts of all jobs; a job that is the only one gets cuts of its own, and is no slower by them.
    void spillingAloneIsOneJobAfterTheOther()
    {
        Bench bench;
        const auto parts = jobAblation(shared(hydra()), bench.context);
        double sum = 0; // of each job alone on such a GPU
        for (const Job &job : hydra().jobs) {
            Plan one = hydra(1);
            one.jobs = { job };
            one.jobScheduler = JobScheduler::Fifo;
            one.jobOptions.doubleBuffer = false;
            sum += *bench.makespan(shared(std::move(one)));
        }
        QVERIFY(*parts[0].makespan() > 0.99 * sum); // but for what goes back last
        for (const JobResult &job : parts[0].evaluation->metrics.jobs->perJob)
            QVERIFY(job.ranOn == std::vector<int> { 0 });
    }

    void theAblationIsOfHydraWhateverThePlanRuns()
    {
        Bench bench;
        Plan other = hydra();
        other.jobScheduler = JobScheduler::Pipeline;
        other.jobOptions.doubleBuffer = false;
        const auto expected = jobAblation(shared(hydra()), bench.context);
        const auto parts = jobAblation(shared(other), bench.context);
        for (std::size_t i = 0; i < parts.size(); ++i)
            QCOMPARE(*parts[i].makespan(), *expected[i].makespan());
    }

    void moreGpusAreFasterUpToTheirNumber()
    {
        Bench bench;
        Plan plan = hydra(6);
        plan.jobs[0].pinnedGpus = { 1, 5 };
        const PlanPtr own = shared(plan);
        const auto scaling = jobScaling(own, bench.context);
        const std::vector<std::string> names { "1 GPU", "2 GPUs", "4 GPUs", "6 GPUs" };
        const std::vector<std::vector<int>> pins { {}, { 1 }, { 1 }, { 1, 5 } };
        QCOMPARE(scaling.size(), names.size());
        for (std::size_t i = 0; i < names.size(); ++i) {
            QCOMPARE(scaling[i].name, names[i]);
            QVERIFY(scaling[i].plan->jobs[0].pinnedGpus == pins[i]);
            QVERIFY(scaling[i].makespan());
            if (i > 0) {
                const double speedUp = *scaling[0].makespan() / *scaling[i].makespan();
                // One GPU alone shows a little of what several hide: the first load of each job.
                QVERIFY2(speedUp > 1 && speedUp <= scaling[i].plan->cluster.gpus() * (1 + 0.005),
                    qPrintable(QStringLiteral("%1: %2").arg(QString::fromStdString(names[i])).arg(speedUp)));
            }
        }
        QVERIFY(scaling.back().plan == own);
    }

    void oneMoreGpuIsTriedInEachPoolThatServesJobs()
    {
        Bench bench;
        Plan plan = hydra(2);
        Pool second = plan.cluster.datacenters[0].pools[0];
        second.id = "second";
        second.nodes = 2;
        second.gpusPerNode = 1;
        plan.cluster.datacenters[0].pools.push_back(second);
        plan.jobs[5].pinnedGpus = { 0, 2 }; // the first of either pool
        const PlanPtr own = shared(plan);
        const auto more = jobsWithOneMoreGpu(own, bench.context);
        QCOMPARE(more.size(), std::size_t(2));
        for (const JobVariant &variant : more) {
            QCOMPARE(variant.plan->cluster.gpus(), own->cluster.gpus() + 1);
            QVERIFY(variant.makespan());
        }
        QVERIFY(more[0].plan->jobs[5].pinnedGpus == (std::vector<int> { 0, 3 })); // still the first of either
        QVERIFY(more[1].plan->jobs[5].pinnedGpus == (std::vector<int> { 0, 2 }));
        QVERIFY(more[1].name.find("second") != std::string::npos);

        Plan pinned = plan; // to the first pool, so that the second serves nobody
        for (Job &job : pinned.jobs)
            job.pinnedGpus = { 0, 1 };
        QCOMPARE(jobsWithOneMoreGpu(shared(pinned), bench.context).size(), std::size_t(1));
    }

    void aSolversPlaceIsTakenByTheRule()
    {
        Bench bench;
        Plan plan = hydra();
        plan.jobScheduler = JobScheduler::ShardMilp;
        const auto scaling = jobScaling(shared(plan), bench.context);
        const auto expected = jobScaling(shared(hydra()), bench.context);
        for (std::size_t i = 0; i < scaling.size(); ++i) {
            QCOMPARE(*scaling[i].makespan(), *expected[i].makespan());
            QVERIFY(scaling[i].note.find("instead of the solver") != std::string::npos);
        }
    }

    void whatCannotRunSaysWhy()
    {
        Bench bench;
        Plan plan = hydra();
        plan.cluster.datacenters[0].pools[0].host = Host { 1, 6, {} }; // no model fits that host
        for (const JobVariant &variant : jobScaling(shared(plan), bench.context))
            QVERIFY(!variant.makespan() && !variant.note.empty());
        plan = hydra();
        plan.jobs[0].model = "nobody's";
        for (const JobVariant &variant : jobAblation(shared(plan), bench.context))
            QVERIFY(!variant.evaluation && !variant.note.empty());
    }

    void whatRunsFewerJobsHasNoSpeedUp()
    {
        // Task parallelism runs the three jobs that fit a GPU, and leaves the others.
        Bench bench;
        Plan plan = hydra();
        for (std::size_t i = 0; i < plan.jobs.size(); i += 2)
            plan.jobs[i].model = "gpt-3-125m";
        const auto variants = jobSchedulers(shared(plan), bench.context, false);
        const JobVariant *tasks = of(variants, JobScheduler::TaskParallel);
        const JobVariant *serial = of(variants, JobScheduler::ModelParallel);
        QVERIFY(tasks && tasks->makespan() && serial && serial->makespan());
        QCOMPARE(variants.front().jobsRun(), 6);
        QCOMPARE(tasks->jobsRun(), 3);
        QVERIFY(!speedUp(variants.front(), *tasks) && !speedUp(*serial, *tasks));
        QCOMPARE(*speedUp(*serial, variants.front()), *serial->makespan() / *variants.front().makespan());
        QVERIFY2(tasks->note.find("3 of the jobs cannot run") != std::string::npos, tasks->note.c_str());
        QVERIFY(variants.front().note.empty());
    }

    void aPlanWithoutJobsHasNothingToCompare()
    {
        Bench bench;
        Plan plan = hydra();
        plan.jobs.clear();
        const PlanPtr own = shared(plan);
        QVERIFY(jobSchedulers(own, bench.context, true).empty());
        QVERIFY(jobAblation(own, bench.context).empty());
        QVERIFY(jobScaling(own, bench.context).empty());
        QVERIFY(jobsWithOneMoreGpu(own, bench.context).empty());
    }

    void itStopsWhenItIsTold()
    {
        Bench bench;
        std::stop_source source;
        source.request_stop();
        bench.context.stop = source.get_token();
        const PlanPtr own = shared(hydra());
        QVERIFY(jobSchedulers(own, bench.context, true).empty());
        QVERIFY(jobAblation(own, bench.context).empty());
        QVERIFY(jobScaling(own, bench.context).empty());
        QVERIFY(jobsWithOneMoreGpu(own, bench.context).empty());
    }
};

TRAINYARD_APPLESS_TEST(TestJobComparison)
#include "tst_job_comparison.moc"
