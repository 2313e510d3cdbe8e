// SPDX-License-Identifier: GPL-3.0-or-later
// Every scheduler of jobs through run(): what holds of their metrics and spans whatever the plan, and how they compare.
#include <QtTest>

#include "core/facts/plan/enum_names.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <cmath>
#include <random>

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr int kRounds = 60;
constexpr JobScheduler kSchedulers[] { JobScheduler::ShardedLrtf, JobScheduler::Fifo, JobScheduler::Random,
    JobScheduler::ModelParallel, JobScheduler::TaskParallel, JobScheduler::Pipeline, JobScheduler::ZeroOffload };

Job job(const std::string &model, int batch, int minibatches)
{
    Job made;
    made.name = "job";
    made.model = model;
    made.batch = batch;
    made.minibatches = minibatches;
    made.sequenceLength = 1024;
    return made;
}

Plan planOf(int gpus, int jobs, const Job &like, const std::string &gpu = "a100-sxm-80gb")
{
    Plan plan;
    plan.cluster.datacenters = { site("a", 1, gpu, gpus) };
    plan.cluster.datacenters[0].pools[0].host = Host { 2048, 25, {} };
    plan.stack.name = "ideal";
    for (int i = 0; i < jobs; ++i) {
        plan.jobs.push_back(like);
        plan.jobs.back().name = "job " + std::to_string(i);
    }
    return plan;
}

bool isInShare(Metric value)
{
    return value && std::isfinite(*value) && *value >= 0 && *value <= 1 + 1e-9;
}

} // namespace

class TestJobSchedulers : public QObject {
    Q_OBJECT

private slots:
    void randomPlansKeepWhatHoldsOfAllSchedules()
    {
        std::mt19937 random(11);
        const auto pick = [&](auto list) { return *(list.begin() + std::ptrdiff_t(random() % list.size())); };
        int ran = 0, refused = 0;
        for (int round = 0; round < kRounds; ++round) {
            Plan plan = planOf(int(1 + random() % 5), 0, {},
                pick(std::initializer_list { "a100-sxm-80gb", "v100-sxm-16gb", "rtx-4090-24gb" }));
            if (random() % 3 == 0)
                plan.cluster.datacenters[0].pools.push_back(site("x", 2, "h100-sxm-80gb", 2).pools[0]);
            if (random() % 4 == 0)
                plan.cluster.datacenters.push_back(site("b", 1, "a100-sxm-80gb", 2));
            if (random() % 3)
                plan.stack.name = pick(std::initializer_list { "megatron-core", "deepspeed", "fsdp" });
            plan.jobOptions.doubleBuffer = random() % 2;
            plan.jobOptions.lookAhead = random() % 2;
            plan.jobOptions.spill = random() % 4 != 0;
            plan.jobOptions.remaining = random() % 2 ? RemainingWork::Units : RemainingWork::Minibatches;
            plan.memory.recompute =
                pick(std::initializer_list { Recompute::None, Recompute::Selective, Recompute::Full });
            plan.bubbleFill.enabled = random() % 2;
            plan.bubbleFill.model = "llama-3-8b";
            plan.bubbleFill.requestsPerSecond = 5;
            const int gpus = plan.cluster.gpus();
            for (int i = 0; i < int(1 + random() % 6); ++i) {
                Job made = job(pick(std::initializer_list { "gpt-3-125m", "gpt-3-1.3b", "gpt-3-6.7b", "llama-3-8b" }),
                    int(1 + random() % 8), int(1 + random() % 3));
                made.name = "job " + std::to_string(i);
                made.epochs = int(1 + random() % 2);
                made.arrivalS = random() % 3 ? 0 : double(random() % 5);
                made.priority = double(random() % 2);
                made.paused = random() % 6 == 0;
                made.optimizer = pick(std::initializer_list { Optimizer::Adam, Optimizer::Sgd });
                made.precision = pick(std::initializer_list { Precision::Bf16, Precision::Fp16, Precision::Fp32 });
                if (random() % 3 == 0)
                    made.deadlineS = made.arrivalS + 10;
                if (random() % 4 == 0)
                    made.pinnedGpus = { int(random() % unsigned(gpus)) };
                if (random() % 5 == 0)
                    made.gpus = int(1 + random() % 3);
                plan.jobs.push_back(made);
            }
            plan.jobScheduler = kSchedulers[random() % std::size(kSchedulers)];
            const auto result =
                trainyard::run(std::make_shared<const Plan>(plan), Depth::Spans, { builtinCatalogue(), m_workspace });
            if (!result) {
                QVERIFY(!result.error().front().what.empty() && !result.error().front().where.empty());
                ++refused;
                continue;
            }
            check(**result);
            if (QTest::currentTestFailed()) {
                qWarning("round %d, scheduler %s", round, toString(plan.jobScheduler));
                return;
            }
            const auto score =
                trainyard::run(std::make_shared<const Plan>(plan), Depth::Score, { builtinCatalogue(), m_workspace });
            QCOMPARE((*score)->metrics.jobs->makespan, (*result)->metrics.jobs->makespan);
            QCOMPARE((*score)->metrics.jobs->gpuUtilization, (*result)->metrics.jobs->gpuUtilization);
            QCOMPARE((*score)->metrics.gpuUtilizationWithFill, (*result)->metrics.gpuUtilizationWithFill);
            ran += (*result)->feasible();
        }
        QVERIFY2(ran > kRounds * 2 / 3, qPrintable(QString::number(ran)));
        QVERIFY(refused < kRounds / 10);
    }

    void prefillFillsIdleGpusOfEveryScheduler()
    {
        for (const JobScheduler scheduler : kSchedulers) {
            if (scheduler == JobScheduler::ZeroOffload)
                continue; // its GPUs wait in spans of the optimizer
            Plan plan = planOf(4, 3, job("gpt-3-1.3b", 4, 5));
            plan.jobScheduler = scheduler;
            const auto alone = evaluated(plan);
            plan.bubbleFill.enabled = true;
            plan.bubbleFill.model = "gpt-3-1.3b";
            plan.bubbleFill.requestsPerSecond = 20;
            plan.bubbleFill.promptTokens = 128;
            const auto with = evaluated(plan);
            QVERIFY2(with->metrics.bubbleFill && with->metrics.bubbleFill->accepted > 0, toString(scheduler));
            QCOMPARE(with->metrics.bubbleFill->trainingDelay, 0.0);
            QCOMPARE(*with->metrics.jobs->makespan, *alone->metrics.jobs->makespan);
            QVERIFY(*with->metrics.gpuUtilizationWithFill > *with->metrics.jobs->gpuUtilization);
            for (std::size_t span = 0; span < alone->timeline.spanCount(); ++span) {
                QCOMPARE(with->timeline.start[span], alone->timeline.start[span]);
                QCOMPARE(with->timeline.end[span], alone->timeline.end[span]);
            }
            check(*with);
        }
    }

    void sharingBeatsModelParallelByTheNumberOfGpusAndPipelinesByTheirBubbles()
    {
        // Equal jobs, n >= G, weights that travel unseen: SHARP / model parallel -> min(G, n), SHARP / GPipe ->
        // (M + K - 1) / M, where both compute the same. Of K shards all but the last compute their forward again, a
        // third of what they do else: (4 K - 1) / (3 K) as much.
        Plan plan = planOf(4, 8, job("gpt-3-1.3b", 64, 4));
        const auto seconds = [&](JobScheduler scheduler) {
            plan.jobScheduler = scheduler;
            return *evaluated(plan)->metrics.jobs->makespan;
        };
        const double k = evaluated(plan)->metrics.jobs->perJob[0].shards, more = (4 * k - 1) / (3 * k);
        const double shared = seconds(JobScheduler::ShardedLrtf) / more;
        const double gain = seconds(JobScheduler::ModelParallel) / shared;
        QVERIFY2(gain > 3.4 && gain < 4.4, qPrintable(QString::number(gain)));
        for (Job &each : plan.jobs)
            each.gpus = 4;
        const double overPipeline = seconds(JobScheduler::Pipeline) / shared;
        const double bubbles = (32 + 4 - 1) / 32.0;
        QVERIFY2(overPipeline > 0.9 * bubbles && overPipeline < 1.4 * bubbles,
            qPrintable(QString::number(overPipeline) + " beside " + QString::number(bubbles)));
    }

    void taskParallelIsOneWaveOfJobsAfterTheOther()
    {
        Plan plan = planOf(4, 4, job("gpt-3-1.3b", 4, 3));
        plan.jobScheduler = JobScheduler::TaskParallel;
        const double wave = *evaluated(plan)->metrics.jobs->makespan;
        plan.jobs = planOf(4, 9, plan.jobs.front()).jobs;
        QVERIFY(std::abs(*evaluated(plan)->metrics.jobs->makespan / wave - 3) < 1e-9); // ceil(9 / 4)
    }

    void withoutSpillingModelsStayOnTheirGpusUntilTheirJobsHaveEnded()
    {
        // Five jobs on two GPUs: each model comes once and goes once, where spilling moves it again and again.
        Plan plan = planOf(2, 5, job("gpt-3-125m", 4, 10));
        plan.jobs[1].unitMs = { 100, 200, 300 }; // of one unit of 600 ms
        const auto bytes = [](const JobResult &result) { return result.bytesLoaded + result.bytesStored; };
        double spilled = 0, stayed = 0;
        for (const JobScheduler scheduler :
            { JobScheduler::ShardedLrtf, JobScheduler::Fifo, JobScheduler::Random, JobScheduler::ShardMilp }) {
            plan.jobScheduler = scheduler;
            plan.jobOptions.spill = true;
            const auto shared = evaluated(plan);
            plan.jobOptions.spill = false;
            const auto evaluation = evaluated(plan);
            if (!evaluation->feasible() && scheduler == JobScheduler::ShardMilp)
                continue; // the solver is not installed
            check(*evaluation);
            const std::vector<JobResult> &jobs = evaluation->metrics.jobs->perJob;
            for (std::size_t i = 0; i < jobs.size(); ++i) {
                QCOMPARE(jobs[i].ranOn.size(), std::size_t { 1 });
                QCOMPARE(jobs[i].shards, 1);
                QVERIFY(jobs[i].bytesLoaded > 0);
                QCOMPARE(jobs[i].bytesLoaded, jobs[0].bytesLoaded); // all of one model
                QCOMPARE(jobs[i].bytesStored, jobs[0].bytesStored);
                spilled += bytes(shared->metrics.jobs->perJob[i]);
                stayed += bytes(jobs[i]);
            }
            QVERIFY(std::abs(jobs[1].work - 6) < 1e-6);
        }
        QVERIFY(spilled > 2 * stayed);
        plan.jobScheduler = JobScheduler::ShardedLrtf;
        plan.jobs[0].minibatches = 100'000'000; // of which a unit stands for several
        const auto many = evaluated(plan);
        QCOMPARE(many->metrics.jobs->perJob[0].bytesLoaded, many->metrics.jobs->perJob[2].bytesLoaded);
    }

    void howAJobRunsIsSaid()
    {
        Plan plan = planOf(4, 2, job("gpt-3-1.3b", 16, 3));
        plan.jobScheduler = JobScheduler::Pipeline;
        const auto evaluation = evaluated(plan);
        QVERIFY(std::ranges::any_of(evaluation->problems,
            [](const Problem &problem) { return problem.text.find("micro-batches") != std::string::npos; }));
        QCOMPARE(evaluation->metrics.jobs->perJob[0].technique, JobTechnique::Pipeline);
        QCOMPARE(evaluation->metrics.jobs->perJob[0].shards, evaluation->metrics.jobs->perJob[0].gpus);
    }

    void whereNoJobFitsThePlanCannotRun()
    {
        Plan plan = planOf(2, 2, job("gpt-3-175b", 4, 3));
        for (const JobScheduler scheduler :
            { JobScheduler::TaskParallel, JobScheduler::ModelParallel, JobScheduler::Pipeline }) {
            plan.jobScheduler = scheduler;
            const auto evaluation = evaluated(plan);
            QVERIFY(!evaluation->feasible());
            QCOMPARE(evaluation->metrics.jobs->perJob[0].state, JobState::CannotRun);
            QVERIFY2(evaluation->problems.front().text.find("cannot run: it needs") != std::string::npos,
                evaluation->problems.front().text.c_str());
            QCOMPARE(evaluation->problems.front().severity, Severity::Blocking);
        }
    }

private:
    /// Of any evaluation of jobs.
    void check(const Evaluation &evaluation)
    {
        const Metrics &metrics = evaluation.metrics;
        const JobMetrics &jobs = *metrics.jobs;
        const int gpus = evaluation.plan->cluster.gpus();
        QVERIFY(!metrics.iterationTime);
        QCOMPARE(int(evaluation.layout.classes.front().locations.size()), gpus);
        QCOMPARE(jobs.perJob.size(), allJobs(*evaluation.plan).size());
        double held = 0, last = 0, usd = 0;
        bool runs = false;
        for (const JobResult &result : jobs.perJob) {
            QCOMPARE(result.state == JobState::CannotRun, !result.why.empty());
            if (result.state != JobState::Runs) {
                QVERIFY(!result.end);
                continue;
            }
            runs = true;
            QVERIFY(result.start && result.end && *result.end > *result.start && std::isfinite(*result.end));
            QVERIFY(std::ranges::is_sorted(result.ranOn) && !result.ranOn.empty());
            QVERIFY(result.gpus >= 1 && result.gpus <= int(result.ranOn.size()));
            QVERIFY(*result.slowdown >= 1 - 1e-9);
            QVERIFY(result.gpuSeconds > 0);
            held += result.gpuSeconds;
            last = std::max(last, *result.end);
            usd += result.usd.value_or(0);
        }
        QCOMPARE(evaluation.feasible(), runs);
        if (!runs)
            return;
        QVERIFY(std::abs(*jobs.makespan - last) <= 1e-6 * last);
        QVERIFY(held <= *jobs.makespan * gpus * (1 + 1e-9));
        QVERIFY(*jobs.makespan >= *jobs.bound * (1 - 1e-9) - 1e-6);
        QVERIFY(isInShare(jobs.gpuUtilization));
        QVERIFY(*jobs.gpuUtilization <= held / (*jobs.makespan * gpus) * (1 + 1e-9));
        QVERIFY(!jobs.usd || std::abs(*jobs.usd - usd) <= 1e-6 * usd);
        if (metrics.bubbleFill) {
            QVERIFY(isInShare(metrics.gpuUtilizationWithFill));
            QCOMPARE(metrics.bubbleFill->trainingDelay, 0.0);
        }
        for (const HostUse &host : jobs.hosts)
            QVERIFY(host.capacity == 0 || double(host.peak) <= host.capacity * (1 + 1e-9));
        QVERIFY(metrics.memory && metrics.memory->fits);
        for (const StageMemory &gpu : metrics.memory->perStage)
            QVERIFY(gpu.device <= gpu.capacity);
        const Timeline &t = evaluation.timeline;
        for (const Track &track : t.tracks) {
            if (track.stream != Stream::Compute && track.stream != Stream::Prefill)
                continue;
            for (std::uint32_t span = track.first; span < track.last; ++span) {
                QVERIFY(span == track.first || t.start[span] >= t.end[span - 1]);
                QVERIFY(t.end[span] <= t.duration);
                if (track.stream == Stream::Prefill)
                    continue;
                const std::uint32_t of = t.classOf(span).job;
                QVERIFY(of < jobs.perJob.size());
                QVERIFY(std::ranges::binary_search(jobs.perJob[of].ranOn, track.stage));
            }
        }
    }

    EvaluationWorkspace m_workspace;
};

TRAINYARD_APPLESS_TEST(TestJobSchedulers)
#include "tst_job_schedulers.moc"
