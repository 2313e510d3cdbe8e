// SPDX-License-Identifier: GPL-3.0-or-later
// Whole jobs on whole GPUs: how they are run, in which order, and what the spans of their mini-batches come to.
#include "tests/core/evaluation/evaluate/gang_runs.h"
#include "tests/support/test_program.h"

#include <random>
#include <stop_token>

using namespace trainyard;
using namespace trainyard::test;

class TestGangJobs : public QObject {
    Q_OBJECT

private slots:
    void modelParallelIsTheSumOfAllStagesOneJobAfterTheOther()
    {
        // A mini-batch: all of forward and backward, one GPU at a time, and what goes over the boundaries. Makespan:
        // the sum over jobs and mini-batches.
        Job like = job("gpt-3-1.3b", 8, 5);
        like.gpus = 4;
        const Result result = m_run(planOf(JobScheduler::ModelParallel, 4, 3, like));
        QCOMPARE(result.gangs.size(), std::size_t(3));
        const GangForm &form = *result.gangs[0].forms[0];
        QCOMPARE(form.width, 4);
        QCOMPARE(form.plan->schedule, ScheduleKind::GPipe);
        QCOMPARE(result.run.makespan, 3 * 5 * form.minibatch);
        const double work = computing(*m_run.evaluated(form));
        QVERIFY(seconds(form.minibatch) >= work * (1 - 1e-9));
        QVERIFY2(seconds(form.minibatch) <= work * 1.1, qPrintable(QString::number(seconds(form.minibatch) / work)));
        // The same on one GPU has no boundaries: as much computing.
        like.gpus = 1;
        const Result one = m_run(planOf(JobScheduler::ModelParallel, 4, 1, like));
        QVERIFY(isClose(computing(*m_run.evaluated(*one.gangs[0].forms[0])), work, 0.01));
        // One of four GPUs is at work.
        QVERIFY(isClose(result.run.gpuUtilization, work / seconds(form.minibatch) / 4, 1e-6));
        checkSpans(result);
    }

    void aPipelineOverlapsMicroBatches()
    {
        // GPipe: W / K (M + K - 1) / M; model parallel W: M K / (M + K - 1) times as fast at most.
        Job like = job("gpt-3-1.3b", 32, 2);
        like.gpus = 4;
        const Result parallel = m_run(planOf(JobScheduler::ModelParallel, 4, 1, like));
        const Result piped = m_run(planOf(JobScheduler::Pipeline, 4, 1, like));
        const GangForm &form = *piped.gangs[0].forms[0];
        const int microBatches = like.batch / form.plan->workload.microBatch;
        QVERIFY(microBatches > 1);
        QVERIFY2(QString::fromStdString(form.name).contains(QString::number(microBatches) + " micro-batches"),
            form.name.c_str());
        const double gain = double(parallel.run.makespan) / double(piped.run.makespan);
        QVERIFY2(gain > 2 && gain <= 1.02 * 4.0 * microBatches / (microBatches + 3), qPrintable(QString::number(gain)));
        checkSpans(piped);
    }

    void theFastestNumberOfMicroBatchesThatFitsIsTaken()
    {
        // Against every divisor of the batch, number of stages and schedule, each evaluated.
        const Job like = job("gpt-3-2.7b", 12, 1);
        const Plan plan = planOf(JobScheduler::Pipeline, 4, 1, like);
        const Result result = m_run(plan);
        const GangForm &form = *result.gangs[0].forms[0];
        EvaluationWorkspace workspace;
        double best = std::numeric_limits<double>::infinity();
        for (const int stages : { 2, 4 })
            for (const int microBatches : { 1, 2, 3, 4, 6, 12 })
                for (const ScheduleKind schedule : { ScheduleKind::GPipe, ScheduleKind::OneFOneB }) {
                    Plan own = *form.plan;
                    own.cluster = plan.cluster;
                    own.cluster.datacenters[0].pools[0].gpusPerNode = stages;
                    own.parallelism.pipeline = stages;
                    own.workload.microBatch = 12 / microBatches;
                    own.schedule = schedule;
                    const auto evaluation = *trainyard::run(
                        std::make_shared<const Plan>(own), Depth::Score, { builtinCatalogue(), workspace });
                    if (evaluation->feasible())
                        best = std::min(best, *evaluation->metrics.iterationTime);
                }
        QVERIFY2(seconds(form.minibatch) <= best * (1 + 1e-9), form.name.c_str());
    }

    void taskParallelGivesEveryJobAGpuOfItsOwn()
    {
        // n equal jobs on G GPUs: ceil(n / G) after each other.
        const Job like = job("gpt-3-1.3b", 4, 3);
        for (const int jobs : { 4, 5, 8, 9 }) {
            const Result result = m_run(planOf(JobScheduler::TaskParallel, 4, jobs, like));
            const Nanoseconds each = 3 * result.gangs[0].forms.back()->minibatch;
            QCOMPARE(result.run.makespan, (jobs + 3) / 4 * each);
            QCOMPARE(result.run.run.jobs[0].gpus, GpuList { 0 });
            checkSpans(result);
        }
    }

    void copiesShareTheBatchWhereThereAreMoreGpusThanJobs()
    {
        const Job like = job("gpt-3-1.3b", 8, 3);
        const Result two = m_run(planOf(JobScheduler::TaskParallel, 8, 2, like));
        const Result eight = m_run(planOf(JobScheduler::TaskParallel, 8, 8, like));
        QCOMPARE(two.run.run.jobs[0].gpus, (GpuList { 0, 1, 2, 3 }));
        QCOMPARE(two.run.run.jobs[1].gpus, (GpuList { 4, 5, 6, 7 }));
        QVERIFY(two.run.makespan < eight.run.makespan);
        QVERIFY(two.run.makespan > eight.run.makespan / 4);
        checkSpans(two);
    }

    void whatDoesNotFitSaysByHowMuch()
    {
        const Result result = m_run(planOf(JobScheduler::TaskParallel, 4, 2, job("gpt-3-13b", 4, 3)));
        QVERIFY(result.gangs.empty());
        QVERIFY2(result.jobs.jobs[0].why.starts_with("it needs at the least 2"), result.jobs.jobs[0].why.c_str());
        QVERIFY(result.jobs.jobs[0].why.find("of a GPU's 8") != std::string::npos);
        QCOMPARE(result.run.makespan, Nanoseconds(0));
        // Layers over GPUs hold it, and so does host memory.
        for (const JobScheduler scheduler :
            { JobScheduler::ModelParallel, JobScheduler::Pipeline, JobScheduler::ZeroOffload }) {
            const Result fits = m_run(planOf(scheduler, 4, 2, job("gpt-3-13b", 4, 3)));
            QVERIFY2(fits.jobs.jobs[0].why.empty(), fits.jobs.jobs[0].why.c_str());
            QVERIFY(fits.run.makespan > 0);
            checkSpans(fits);
        }
    }

    void aNumberOfGpusThatDoesNotDivideTheBatchIsSaid()
    {
        Job like = job("gpt-3-1.3b", 4, 3);
        like.gpus = 3;
        const Result result = m_run(planOf(JobScheduler::TaskParallel, 4, 1, like));
        QCOMPARE(result.jobs.jobs[0].why, std::string("it cannot be shared out over 3 GPUs as asked"));
    }

    void statesInHostMemoryAreCountedThere()
    {
        const Result result = m_run(planOf(JobScheduler::ZeroOffload, 4, 2, job("gpt-3-13b", 4, 3)));
        // fp16 weights and gradients, fp32 weights and both moments: at least 14 bytes of 13e9 parameters
        QVERIFY2(result.run.run.hostPeaks[0] > 14 * 12.8e9, qPrintable(QString::number(result.run.run.hostPeaks[0])));
        const auto &curve = result.run.run.hosts[0];
        QCOMPARE(curve.back().time, result.run.makespan);
        QCOMPARE(curve.back().bytes, std::int64_t(0));
        Plan little = planOf(JobScheduler::ZeroOffload, 4, 1, job("gpt-3-13b", 4, 3));
        little.cluster.datacenters[0].pools[0].host->memoryGib = 64;
        const Result none = m_run(little);
        QVERIFY2(none.jobs.jobs[0].why.find("of a host's 68.7 GB") != std::string::npos, none.jobs.jobs[0].why.c_str());
    }

    void prioritiesArrivalsPinsAndPauses()
    {
        Plan plan = planOf(JobScheduler::TaskParallel, 2, 6, job("gpt-3-1.3b", 4, 3));
        plan.jobs[0].paused = true;
        plan.jobs[1].arrivalS = 1;
        plan.jobs[4].priority = 1;
        plan.jobs[5].pinnedGpus = { 1 };
        const Result result = m_run(plan);
        const auto &times = result.run.run.jobs;
        QCOMPARE(times[0].start, JobTimes::kNever);
        QVERIFY(times[1].start >= toNanoseconds(Seconds { 1 }));
        QCOMPARE(times[4].start, Nanoseconds(0)); // before those of the list
        QCOMPARE(times[4].gpus, GpuList { 0 });
        QCOMPARE(times[2].gpus, GpuList { 1 });
        QCOMPARE(times[5].gpus, GpuList { 1 });
        checkSpans(result);
    }

    void jobsPinnedApartRunTogether()
    {
        Plan plan = planOf(JobScheduler::ModelParallel, 4, 3, job("gpt-3-1.3b", 4, 3));
        plan.jobs[0].pinnedGpus = { 0, 1 };
        plan.jobs[1].pinnedGpus = { 3 };
        const Result result = m_run(plan);
        const auto &times = result.run.run.jobs;
        QCOMPARE(times[0].start, Nanoseconds(0));
        QCOMPARE(times[1].start, Nanoseconds(0));
        QCOMPARE(times[2].start, std::max(times[0].end, times[1].end)); // it wants all
        checkSpans(result);
    }

    void measuredUnitsAreTakenAsTheyAre()
    {
        // Twelve models, ten mini-batches of 1.2 s: 144 s one at a time.
        Job like = job("gpt-3-1.3b", 8, 10);
        like.unitMs = { 100, 100, 100, 300, 200, 200, 200 };
        const Result parallel = m_run(planOf(JobScheduler::ModelParallel, 8, 12, like));
        QVERIFY2(isClose(seconds(parallel.run.makespan), 144, 1e-9),
            qPrintable(QString::number(seconds(parallel.run.makespan))));
        // Task parallel: two of 12 s after each other on four of the eight GPUs.
        QVERIFY(isClose(seconds(m_run(planOf(JobScheduler::TaskParallel, 8, 12, like)).run.makespan), 24, 1e-9));
        // Four equal stages, M micro-batches: 1.2 / 4 (M + 3) / M a mini-batch.
        const Result piped = m_run(planOf(JobScheduler::Pipeline, 8, 12, like));
        const GangForm &form = *piped.gangs[0].forms[0];
        QCOMPARE(form.plan->parallelism.pipeline, 4);
        const double m = 8.0 / form.plan->workload.microBatch;
        QVERIFY(isClose(seconds(form.minibatch), 1.2 / 4 * (m + 3) / m, 1e-6));
    }

    void allSpansAndFewSayTheSame()
    {
        const Plan plan = planOf(JobScheduler::Pipeline, 4, 3, job("gpt-3-1.3b", 8, 7));
        const Result all = m_run(plan), few = m_run(plan, false);
        QCOMPARE(all.run.makespan, few.run.makespan);
        QCOMPARE(all.run.gpuUtilization, few.run.gpuUtilization);
        QVERIFY(all.run.run.timeline.spanCount() > few.run.run.timeline.spanCount());
        // The curve's mean is the metric: spans times the share of them that is computation.
        for (const Result *result : { &all, &few }) {
            const Timeline &t = result->run.run.timeline;
            double busy = 0;
            for (const Track &track : t.tracks)
                for (std::uint32_t span = track.first; span < track.last; ++span)
                    if (isTrainingCompute(t.kind[span]))
                        busy +=
                            seconds(t.end[span] - t.start[span]) * result->run.computeShare[std::size_t(track.stage)];
            QVERIFY2(isClose(busy / 4 / seconds(result->run.makespan), result->run.gpuUtilization, 1e-3),
                qPrintable(QString::number(busy / 4 / seconds(result->run.makespan)) + " "
                    + QString::number(result->run.gpuUtilization)));
        }
        checkSpans(all);
        checkSpans(few);
    }

    void manyMiniBatchesShareASpan()
    {
        Plan plan = planOf(JobScheduler::TaskParallel, 2, 2, job("gpt-3-1.3b", 4, 1'000'001));
        const Result result = m_run(plan);
        QCOMPARE(result.run.minibatchesPerSpan, 11);
        QVERIFY(result.run.run.timeline.spanCount() < 200'010);
        QCOMPARE(result.run.makespan, 1'000'001 * result.gangs[0].forms[0]->minibatch);
        checkSpans(result);
    }

    void whatIsStoppedIsCancelled()
    {
        JobWorkloads jobs = workloadsOf(planOf(JobScheduler::Pipeline, 4, 3, job("gpt-3-1.3b", 8, 7)));
        EvaluationWorkspace workspace;
        std::stop_source stop;
        stop.request_stop();
        const auto gangs = gangJobs(jobs, { builtinCatalogue(), workspace, stop.get_token() });
        QVERIFY(!gangs);
        QCOMPARE(gangs.error().front().code, ErrorCode::Cancelled);
    }

    void moreThanATimelineHoldsIsAnError()
    {
        Plan plan = planOf(JobScheduler::ModelParallel, 1, 2, job("gpt-3-1.3b", 4, 10'000'000));
        for (Job &each : plan.jobs)
            each.epochs = 1'000'000;
        JobWorkloads jobs = workloadsOf(plan);
        EvaluationWorkspace workspace;
        SimulationWorkspace simulation;
        const RunContext context { builtinCatalogue(), workspace };
        const auto ran = runGangs(jobs, *gangJobs(jobs, context), true, context, simulation);
        QVERIFY(!ran);
        QCOMPARE(ran.error().front().code, ErrorCode::OutOfRange);
    }

    void randomJobsRunOrSayWhyNot()
    {
        std::mt19937 random(7);
        const auto pick = [&](auto list) { return *(list.begin() + std::ptrdiff_t(random() % list.size())); };
        for (int round = 0; round < 25; ++round) {
            Plan plan = planOf(pick(std::initializer_list { JobScheduler::ModelParallel, JobScheduler::TaskParallel,
                                   JobScheduler::Pipeline, JobScheduler::ZeroOffload }),
                int(1 + random() % 4), 0, {}, pick(std::initializer_list { "a100-sxm-80gb", "v100-sxm-16gb" }));
            if (random() % 2)
                plan.cluster.datacenters.push_back(site("b", 2, "h100-sxm-80gb", 2));
            if (random() % 3 == 0)
                plan.cluster.datacenters[0].pools.push_back(site("x", 1, "rtx-4090-24gb", 2).pools[0]);
            plan.stack.name = "megatron-core";
            int gpus = plan.cluster.gpus();
            for (int i = 0; i < 4; ++i) {
                Job made = job(pick(std::initializer_list { "gpt-3-1.3b", "gpt-3-6.7b", "gpt-3-125m" }),
                    int(1 + random() % 12), int(1 + random() % 4));
                made.name = "job " + std::to_string(i);
                made.arrivalS = double(random() % 3);
                made.priority = double(random() % 2);
                if (random() % 4 == 0)
                    made.pinnedGpus = { int(random() % unsigned(gpus)) };
                if (random() % 4 == 0)
                    made.gpus = int(1 + random() % 4);
                if (random() % 5 == 0)
                    made.technique = pick(std::initializer_list { JobTechnique::Pipeline, JobTechnique::ZeroOffload,
                        JobTechnique::DataParallel, JobTechnique::ModelParallel });
                plan.jobs.push_back(made);
            }
            const Result result = m_run(plan);
            checkSpans(result);
            double held = 0;
            for (std::size_t i = 0; i < result.jobs.jobs.size(); ++i) {
                const JobTimes &times = result.run.run.jobs[i];
                const bool hasRun = times.start != JobTimes::kNever;
                QCOMPARE(hasRun, result.jobs.jobs[i].why.empty());
                if (!hasRun)
                    continue;
                QVERIFY(seconds(times.start) >= result.jobs.jobs[i].job.arrivalS - 1e-9);
                held += seconds(times.end - times.start) * double(times.gpus.size());
            }
            QVERIFY(held <= seconds(result.run.makespan) * gpus * (1 + 1e-9));
            QVERIFY(result.run.gpuUtilization >= 0 && result.run.gpuUtilization <= 1);
            QVERIFY(
                std::max(result.run.boundShared, result.run.boundLongest) <= seconds(result.run.makespan) * (1 + 1e-9));
        }
    }

private:
    Gangs m_run;
};

TRAINYARD_APPLESS_TEST(TestGangJobs)
#include "tst_gang_jobs.moc"
