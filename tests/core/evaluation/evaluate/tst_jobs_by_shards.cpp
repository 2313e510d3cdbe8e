// SPDX-License-Identifier: GPL-3.0-or-later
// Evaluations of plans with jobs whose shards share the GPUs: metrics that agree with the timeline, the layout and each
// other, depths that agree, and problems in words.

#include "core/evaluation/advice/alternatives.h"
#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/evaluate/run_cache.h"
#include "core/iteration/job_shards/job_workloads.h"
#include "tests/core/iteration/job_shards/job_plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Eight jobs of two sizes, none of which fits a GPU.
Plan lab()
{
    Plan plan = jobPlan({ pool("v100", "v100-sxm-16gb", 1, 4, 488, 12) }, {});
    for (int i = 0; i < 8; ++i)
        plan.jobs.push_back(job(("job " + std::to_string(i)).c_str(), i % 2 ? "opt-1.3b" : "opt-2.7b", 8, 5));
    return plan;
}

EvaluationPtr evaluated(const Plan &plan, Depth depth = Depth::Spans)
{
    static EvaluationWorkspace workspace;
    auto evaluation = run(share(plan), depth, { builtinCatalogue(), workspace });
    if (!evaluation)
        qFatal("%s", toString(evaluation.error().front()).c_str());
    return *evaluation;
}

const Problem *problemAt(const Evaluation &evaluation, const std::string &where)
{
    const auto found = std::ranges::find(evaluation.problems, where, &Problem::where);
    return found == evaluation.problems.end() ? nullptr : &*found;
}

bool isNear(double a, double b, double tolerance = 1e-9)
{
    return std::abs(a - b) <= tolerance * std::max({ 1e-300, std::abs(a), std::abs(b) });
}

} // namespace

class TstJobsByShards : public QObject {
    Q_OBJECT

private slots:
    /// makespan = last end; utilization = seconds in units / (GPUs x makespan); usd = price of all GPUs until then.
    void metricsAgreeWithTheTimeline()
    {
        const EvaluationPtr e = evaluated(lab());
        QVERIFY(e->feasible() && e->metrics.jobs && !e->metrics.iterationTime && !e->metrics.breakdown);
        const JobMetrics &jobs = *e->metrics.jobs;
        QCOMPARE(jobs.perJob.size(), 8u);
        QCOMPARE(e->metrics.spans, e->timeline.spanCount());
        std::vector<double> work(8), loaded(8), stored(8);
        double all = 0;
        for (const Track &track : e->timeline.tracks)
            for (std::uint32_t span = track.first; span < track.last; ++span) {
                const std::uint32_t job = e->timeline.classOf(span).job;
                QVERIFY(job < 8);
                const double seconds = double(e->timeline.end[span] - e->timeline.start[span]) / 1e9;
                if (track.stream == Stream::Compute)
                    work[job] += seconds;
                else
                    (track.stream == Stream::Load ? loaded : stored)[job] += e->timeline.bytesMoved(span);
            }
        double makespan = 0, usd = 0;
        for (std::size_t i = 0; i < 8; ++i) {
            const JobResult &job = jobs.perJob[i];
            QCOMPARE(job.name, e->plan->jobs[i].name);
            QVERIFY(isNear(job.work, work[i]) && isNear(job.gpuSeconds, work[i]));
            QVERIFY(isNear(job.bytesLoaded, loaded[i], 1e-6) && isNear(job.bytesStored, stored[i], 1e-6));
            QVERIFY(job.shards > 1 && *job.start >= 0 && *job.end > *job.start && *job.slowdown >= 1);
            all += work[i];
            usd += *job.usd;
            makespan = std::max(makespan, *job.end);
        }
        QCOMPARE(*jobs.makespan, makespan);
        QVERIFY(isNear(*jobs.gpuUtilization, all / (4 * makespan)));
        QVERIFY(isNear(*jobs.usd, 4 * 2.48 * makespan / 3600) && isNear(usd, *jobs.usd));
        QVERIFY(*jobs.bound <= makespan && *jobs.bound == std::max(*jobs.boundShared, *jobs.boundLongest));
        QVERIFY(isNear(*jobs.boundShared, all / 4, 1e-6)); // equal GPUs: the sum of W over G
        QCOMPARE(e->metrics.confidence.label, "spec sheet");
        QVERIFY(!e->metrics.confidence.iterationLow);
    }

    void theLayoutHasAGpuAStage()
    {
        const EvaluationPtr e = evaluated(lab());
        QCOMPARE(e->layout.classes.size(), 1u);
        QCOMPARE(e->layout.classes[0].locations.size(), 4u);
        QCOMPARE(e->layout.chunks.size(), 4u);
        QCOMPARE(e->layout.runs.size(), 4u);
        QCOMPARE(e->metrics.gpusUsed, 4);
        QCOMPARE(e->metrics.gpusTotal, 4);
        QVERIFY(std::ranges::all_of(e->timeline.tracks,
            [](const Track &track) { return track.pipelineClass == 0 && track.stage >= 0 && track.stage < 4; }));
    }

    /// Of every GPU: peak of its curve = what is on the device at its fullest <= capacity; likewise of hosts.
    void memoryStaysWithinGpusAndHosts()
    {
        for (const double gib : { 60.0, 90.0, 488.0 }) {
            Plan plan = lab();
            plan.cluster.datacenters[0].pools[0].host->memoryGib = gib;
            const EvaluationPtr e = evaluated(plan);
            QVERIFY(e->feasible() && e->metrics.memory && e->metrics.memory->fits);
            QCOMPARE(e->memoryCurves.size(), 4u);
            for (std::size_t gpu = 0; gpu < 4; ++gpu) {
                const StageMemory &memory = e->metrics.memory->perStage[gpu];
                QCOMPARE(memory.weights + memory.gradients + memory.optimizer + memory.activations + memory.buffers,
                    memory.peak);
                QVERIFY(memory.peak <= memory.reserved && memory.reserved <= memory.device && memory.fits());
                if (gib > 200) // little host memory keeps some GPUs without work
                    QVERIFY(memory.weights > 0 && memory.optimizer > memory.weights && memory.activations > 0);
                std::int64_t parts = 0;
                for (const auto &[name, bytes] : memory.parts)
                    parts += bytes;
                QCOMPARE(parts, memory.device);
                std::int64_t peak = 0;
                for (const MemoryStep &step : e->memoryCurves[gpu])
                    peak = std::max(peak, step.bytes);
                QVERIFY(std::abs(peak - memory.device) <= 1);
            }
            const HostUse &host = e->metrics.jobs->hosts.at(0);
            QVERIFY(host.peak > 0 && double(host.peak) <= gib * 0x1p30);
            QCOMPARE(e->metrics.jobs->hostPeak, host.peak);
            std::int64_t peak = 0;
            for (const MemoryStep &step : host.curve)
                peak = std::max(peak, step.bytes);
            QCOMPARE(peak, host.peak);
            const bool waits = problemAt(*e, "cluster.datacenters[0].pools[0].host.memory_gib");
            QCOMPARE(waits, gib < 200);
        }
    }

    /// An estimate is the bound; a fit holds no more than GPUs have; what each depth says the next says too.
    void depthsAgree()
    {
        const EvaluationPtr estimate = evaluated(lab(), Depth::Estimate), fit = evaluated(lab(), Depth::Fit),
                            score = evaluated(lab(), Depth::Score), spans = evaluated(lab());
        QCOMPARE(*estimate->metrics.jobs->makespan, *score->metrics.jobs->bound);
        QVERIFY(fit->feasible() && fit->metrics.memory->fits && fit->timeline.isEmpty());
        QVERIFY(!fit->metrics.jobs->perJob[0].end);
        for (std::size_t gpu = 0; gpu < 4; ++gpu)
            QVERIFY(fit->metrics.memory->perStage[gpu].device >= score->metrics.memory->perStage[gpu].device);
        QCOMPARE(*score->metrics.jobs->makespan, *spans->metrics.jobs->makespan);
        QVERIFY(score->timeline.isEmpty() && score->memoryCurves.empty());
        QVERIFY(score->metrics.jobs->hosts[0].curve.empty());
        QCOMPARE(score->problems.size(), spans->problems.size());
    }

    /// Longest remaining first is no longer than first in, first out; what is asked for again is not computed again.
    void schedulersAndSwitchesAreHeard()
    {
        Plan plan = lab();
        const double lrtf = *evaluated(plan)->metrics.jobs->makespan;
        plan.jobOptions.doubleBuffer = false;
        QVERIFY(*evaluated(plan)->metrics.jobs->makespan > 1.1 * lrtf); // transfers in full view
        plan = lab();
        plan.jobScheduler = JobScheduler::Random;
        const double one = *evaluated(plan)->metrics.jobs->makespan;
        QCOMPARE(*evaluated(plan)->metrics.jobs->makespan, one);
        plan.jobOptions.seed = 2;
        QVERIFY(*evaluated(plan)->metrics.jobs->makespan != one);
    }

    void measuredTimesAreTakenAsTheyAreGiven()
    {
        Plan plan = jobPlan({ pool("v100", "v100-sxm-16gb", 1, 1) }, { job("a", "opt-125m", 1, 10) });
        plan.jobs[0].unitMs = { 100, 400, 250 };
        EvaluationPtr e = evaluated(plan);
        const JobMetrics &jobs = *e->metrics.jobs;
        QVERIFY(jobs.perJob[0].isMeasured);
        QVERIFY(isNear(jobs.perJob[0].work, 7.5)); // 10 x (.1 + .4 + .25)
        QVERIFY(*jobs.makespan >= 7.5 && *jobs.makespan < 9);
        QCOMPARE(e->metrics.confidence.label, "same family");
        QVERIFY(e->metrics.confidence.note.contains("as the plan gives them"));
        plan.jobs.push_back(job("b", "opt-125m", 1));
        e = evaluated(plan);
        QCOMPARE(e->metrics.confidence.label, "spec sheet");
        QVERIFY(e->metrics.confidence.note.contains("1 job"));
    }

    /// The solver's order is followed, and is no longer than the longest remaining first; without a solver that is
    /// said.
    void theSolversOrderIsFollowed()
    {
        Plan plan = lab();
        plan.jobs.resize(3);
        plan.cluster.datacenters[0].pools[0].gpusPerNode = 2;
        for (Job &of : plan.jobs)
            of.minibatches = 1;
        const double lrtf = *evaluated(plan)->metrics.jobs->makespan;
        plan.jobScheduler = JobScheduler::ShardMilp;
        plan.jobOptions.seconds = 0.5;
        const EvaluationPtr solved = evaluated(plan);
        if (!solved->metrics.jobs->perJob[0].end) { // none is installed
            const auto said = std::ranges::find_if(
                solved->problems, [](const Problem &one) { return one.text.starts_with("There is no order: "); });
            QVERIFY(said != solved->problems.end() && said->severity == Severity::Blocking && !said->fixes.empty());
            QCOMPARE(*evaluated(*said->fixes[0].plan)->metrics.jobs->makespan, lrtf);
            return;
        }
        QVERIFY(*solved->metrics.jobs->makespan <= lrtf * (1 + 1e-9));
    }

    void evaluationsAreRememberedByThePlan()
    {
        RunCache cache;
        EvaluationWorkspace workspace;
        const auto first = run(share(lab()), Depth::Score, { builtinCatalogue(), workspace, {}, nullptr, &cache });
        const auto again = run(share(lab()), Depth::Score, { builtinCatalogue(), workspace, {}, nullptr, &cache });
        QCOMPARE((*first)->metrics.evaluateMs, (*again)->metrics.evaluateMs);
        Plan other = lab();
        other.jobs[0].priority = 1;
        const auto changed = run(share(other), Depth::Score, { builtinCatalogue(), workspace, {}, nullptr, &cache });
        QVERIFY((*changed)->metrics.evaluateMs != (*first)->metrics.evaluateMs);
    }

    void whatStandsInTheWayIsSaid()
    {
        Plan plan = lab();
        plan.jobs[0].deadlineS = 1;
        plan.jobs[1].pinnedGpus = { 0, 11 };
        plan.jobs[2].paused = true;
        plan.jobs[3].gpus = 2;
        plan.jobs[4].technique = JobTechnique::Pipeline;
        plan.jobs[5].model = "llama-3.1-405b"; // no layer of which fits 16 GB with its optimizer states
        plan.jobOptions.switchCostS = 3;
        plan.workload.globalBatch = 8;
        plan.cluster.datacenters[0].pools[0].host->memoryGib = 0;
        const EvaluationPtr e = evaluated(plan);
        QVERIFY(e->feasible());
        for (const char *where :
            { "jobs[0].deadline_s", "jobs[1].pinned_gpus", "jobs[2].paused", "jobs[3].gpus", "jobs[4].technique",
                "jobs[5]", "job_options.switch_cost_s", "workload", "cluster.datacenters[0].pools[0].host.memory_gib" })
            QVERIFY2(problemAt(*e, where), where);
        const JobMetrics &jobs = *e->metrics.jobs;
        QCOMPARE(jobs.perJob[2].state, JobState::Paused);
        QCOMPARE(jobs.perJob[5].state, JobState::CannotRun);
        QVERIFY(!jobs.perJob[2].end && !jobs.perJob[5].end && !jobs.perJob[5].why.empty());
        QCOMPARE(jobs.perJob[1].ranOn, std::vector<int> { 0 });
        QVERIFY(std::ranges::none_of(
            e->problems, [](const Problem &problem) { return problem.severity == Severity::Blocking; }));
    }

    void aPlanNoneOfWhoseJobsCanRunIsNotFeasible()
    {
        Plan plan = jobPlan({ pool("v100", "v100-sxm-16gb", 1, 4) }, { job("a", "llama-3.1-405b"), job("b", "dbrx") });
        EvaluationPtr e = evaluated(plan);
        QVERIFY(!e->feasible() && !e->feasibility.fitsGpus);
        QCOMPARE(e->problems.front().severity, Severity::Blocking);
        plan = lab();
        plan.cluster.datacenters[0].pools[0].host->memoryGib = 4;
        e = evaluated(plan);
        QVERIFY(!e->feasible() && !e->feasibility.fitsHosts);
        QVERIFY2(e->problems.front().text.contains("GB"), e->problems.front().text.c_str());
        plan = lab();
        for (Job &paused : plan.jobs)
            paused.paused = true;
        e = evaluated(plan);
        QVERIFY(!e->feasible());
        QCOMPARE(e->problems.front().text, "Every job is paused");
        for (const JobScheduler scheduler : { JobScheduler::Milp, JobScheduler::List }) {
            plan = lab();
            plan.jobScheduler = scheduler;
            e = evaluated(plan);
            QVERIFY(!e->feasible() && !e->feasibility.isModelled && !e->metrics.jobs);
            QCOMPARE(e->problems.front().where, "job_scheduler");
        }
    }

    void gpusWithoutWorkAreNamed()
    {
        Plan plan = lab();
        plan.jobs.resize(3);
        plan.cluster.datacenters[0].pools.push_back(pool("t4", "t4-16gb", 1, 2));
        for (Job &pinned : plan.jobs)
            pinned.pinnedGpus = { 0, 1, 2, 3 };
        const EvaluationPtr e = evaluated(plan);
        QCOMPARE(e->metrics.gpusUsed, 3);
        QCOMPARE(e->metrics.gpusTotal, 6);
        int idle = 0;
        for (const IdleGpus &of : e->layout.idle)
            idle += of.gpus;
        QCOMPARE(idle, 3);
        QVERIFY(problemAt(*e, "cluster.datacenters[0].pools[1]"));
    }

    /// Everything that looks at plans copes with one that has no iteration.
    void adviceCopes()
    {
        EvaluationWorkspace workspace;
        for (Plan plan : { lab(), jobPlan({ pool("v100", "v100-sxm-16gb", 1, 4) }, { job("a", "llama-3.1-405b") }) }) {
            const auto e = evaluate(share(plan), builtinCatalogue(), workspace);
            QVERIFY(e);
            plan.workload.model = "opt-1.3b";
            plan.workload.globalBatch = 8;
            QVERIFY(evaluate(share(plan), builtinCatalogue(), workspace));
            plan.jobs.clear(); // and knows the plan again when they are gone
            const auto own = evaluate(share(plan), builtinCatalogue(), workspace);
            QVERIFY(own && (*own)->metrics.iterationTime && !(*own)->metrics.jobs);
        }
    }

    void aThousandJobsArePlanned()
    {
        Plan plan = jobPlan({ pool("v100", "v100-sxm-16gb", 4, 8, 2000, 12) }, {});
        plan.jobGrid.emplace().model = { "opt-1.3b", "opt-2.7b" };
        for (int i = 1; i <= 500; ++i)
            plan.jobGrid->learningRate.push_back(i * 1e-5);
        plan.jobGrid->minibatches = { 2 };
        plan.jobGrid->batch = { 16 };
        const EvaluationPtr e = evaluated(plan, Depth::Score);
        QVERIFY(e->feasible());
        QVERIFY(std::ranges::all_of(e->metrics.jobs->perJob, [](const JobResult &job) { return job.end.has_value(); }));
        QVERIFY2(*e->metrics.jobs->gpuUtilization > 0.5, std::to_string(*e->metrics.jobs->gpuUtilization).c_str());
    }
};

TRAINYARD_APPLESS_TEST(TstJobsByShards)
#include "tst_jobs_by_shards.moc"
