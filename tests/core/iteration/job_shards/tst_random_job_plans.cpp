// SPDX-License-Identifier: GPL-3.0-or-later
// Random plans with jobs, from the plan to the proof: what is resolved keeps its promises, and the checker, which
// shares no code with the scheduler, finds no fault in what is run of it.

#include "core/evaluation/evaluate/run.h"
#include "core/iteration/job_shards/job_workloads.h"
#include "tests/core/iteration/job_shards/job_plans.h"
#include "tests/core/systems/jobs/schedule_checker.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <random>

using namespace trainyard;
using namespace trainyard::test;

namespace {

class RandomPlans {
public:
    explicit RandomPlans(unsigned seed)
        : m_random(seed)
    {
    }

    Plan next()
    {
        Plan plan = jobPlan({}, {});
        plan.cluster.datacenters[0].pools.clear();
        for (int d = 0, last = whole(0, 4) == 0 ? 1 : 0; d <= last; ++d) {
            if (d > 0) {
                plan.cluster.datacenters.push_back(plan.cluster.datacenters[0]);
                plan.cluster.datacenters[1].id = "far";
                plan.cluster.datacenters[1].pools.clear();
            }
            for (int p = whole(1, 2); p > 0; --p)
                plan.cluster.datacenters.back().pools.push_back(randomPool(d, p));
            if (coin())
                plan.cluster.datacenters.back().fabricGbpsPerGpu = whole(1, 400);
        }
        const int gpus = plan.cluster.gpus();
        for (int i = whole(1, 7); i > 0; --i)
            plan.jobs.push_back(randomJob(i, gpus));
        JobOptions &options = plan.jobOptions;
        options.doubleBuffer = whole(0, 3) > 0;
        options.lookAhead = coin();
        options.remaining = coin() ? RemainingWork::Units : RemainingWork::Minibatches;
        options.spill = whole(0, 5) > 0;
        options.seed = whole(0, 99);
        plan.jobScheduler = JobScheduler(whole(0, 2));
        if (whole(0, 3) == 0)
            plan.stack.name = coin() ? "ideal" : "fsdp";
        return plan;
    }

private:
    int whole(int low, int high) { return low + int(m_random() % unsigned(high - low + 1)); }
    bool coin() { return whole(0, 1) == 1; }
    template <class Value, std::size_t n> Value one(const Value (&of)[n]) { return of[std::size_t(whole(0, n - 1))]; }

    Pool randomPool(int datacenter, int number)
    {
        static const char *const kGpus[] = { "v100-sxm-16gb", "t4-16gb", "rtx-3090-24gb", "a100-sxm-40gb",
            "h100-sxm-80gb" };
        const std::string id = "pool-" + std::to_string(datacenter) + "-" + std::to_string(number);
        return pool(id.c_str(), one(kGpus), whole(1, 2), whole(1, 4), coin() ? whole(20, 300) : 0,
            whole(0, 2) > 0 ? whole(3, 20) : 0);
    }

    Job randomJob(int number, int gpus)
    {
        static const char *const kModels[] = { "opt-125m", "opt-350m", "opt-1.3b", "gpt-3-2.7b", "llama-7b",
            "qwen2.5-1.5b", "qwen1.5-moe-a2.7b" };
        Job made = job(("job " + std::to_string(number)).c_str(), one(kModels), whole(1, 16), whole(1, 4));
        made.sequenceLength = 128 * whole(1, 8);
        made.precision = coin() ? Precision::Fp16 : Precision::Fp32;
        made.optimizer = coin() ? Optimizer::Adam : Optimizer::Sgd;
        made.arrivalS = coin() ? 0 : whole(0, 20);
        made.priority = whole(0, 3) == 0 ? whole(-1, 1) : 0;
        made.paused = whole(0, 9) == 0;
        if (whole(0, 4) == 0)
            made.pinnedGpus = { whole(0, gpus - 1) };
        if (whole(0, 5) == 0)
            made.unitMs.assign(std::size_t(2 * whole(4, 8) - 1), whole(1, 300));
        return made;
    }

    std::mt19937 m_random;
};

void checkSpecs(const JobWorkloads &jobs)
{
    for (const JobWorkload &of : jobs.jobs) {
        QCOMPARE(of.specIndex >= 0, !of.job.paused && of.why.empty());
        if (of.specIndex < 0)
            continue;
        const JobSpec &spec = jobs.set.jobs[std::size_t(of.specIndex)];
        QCOMPARE(spec.units.size(), 2 * of.shards.size() - 1);
        double boundaries = 0;
        for (const JobUnit &unit : spec.units) {
            boundaries += unit.hostAfter;
            QVERIFY(unit.running >= unit.weights + unit.input + unit.output - 1);
        }
        QVERIFY(std::abs(boundaries) < 1);
        for (std::size_t kind = 0; kind < spec.seconds.size(); ++kind) {
            if (spec.seconds[kind].empty())
                continue;
            QCOMPARE(spec.seconds[kind].size(), spec.units.size());
            for (const JobGpu &gpu : jobs.set.gpus)
                for (const JobUnit &unit : spec.units)
                    QVERIFY(gpu.kind != int(kind) || unit.running <= gpu.memory);
        }
        QVERIFY(jobs.jobs.size() > 0 && spec.node >= 0);
    }
}

} // namespace

class TstRandomJobPlans : public QObject {
    Q_OBJECT

private slots:
    void schedulesOfRandomPlansHaveNoFault()
    {
        RandomPlans plans(20211008);
        SimulationWorkspace workspace;
        int ran = 0, cut = 0, refused = 0, joined = 0;
        for (int round = 0; round < 150; ++round) {
            const PlanPtr plan = share(plans.next());
            const auto jobs = resolveJobs(plan, builtinCatalogue());
            if (!jobs) { // measured shards that no GPU holds
                QVERIFY2(jobs.error().front().where.ends_with("unit_ms"), toString(jobs.error().front()).c_str());
                ++refused;
                continue;
            }
            checkSpecs(*jobs);
            JobRules rules;
            rules.scheduler = plan->jobScheduler;
            rules.doubleBuffer = plan->jobOptions.doubleBuffer;
            rules.lookAhead = plan->jobOptions.lookAhead;
            rules.remaining = plan->jobOptions.remaining;
            rules.seed = plan->jobOptions.seed;
            const auto run = runJobs(jobs->set, rules, workspace);
            QVERIFY2(run, run ? "" : run.error().what.c_str());
            const std::string fault = ScheduleChecker(jobs->set, rules, *run).fault();
            QVERIFY2(fault.empty(), ("plan " + std::to_string(round) + ": " + fault).c_str());
            ran += !run->timeline.isEmpty();
            for (const JobWorkload &of : jobs->jobs)
                cut += of.specIndex >= 0 && of.shards.size() > 1;
            joined += jobs->set.nodes.size() > 1 && jobs->set.nodes[0].site == jobs->set.nodes[1].site;
        }
        QVERIFY2(ran > 80 && cut > 150 && refused < 40 && joined > 3,
            qPrintable(QStringLiteral("%1 %2 %3 %4").arg(ran).arg(cut).arg(refused).arg(joined)));
    }

    /// bound <= makespan; what ends is as many jobs as run; GPUs and hosts hold no more than they have.
    void evaluationsOfRandomPlansAgreeWithThemselves()
    {
        RandomPlans plans(20210706);
        EvaluationWorkspace workspace;
        int evaluations = 0;
        for (int round = 0; round < 100; ++round) {
            const auto evaluation = run(share(plans.next()), Depth::Spans, { builtinCatalogue(), workspace });
            if (!evaluation)
                continue;
            const Evaluation &e = **evaluation;
            QVERIFY(e.metrics.jobs);
            const JobMetrics &jobs = *e.metrics.jobs;
            if (!e.feasible()) {
                QVERIFY(!jobs.makespan || *jobs.makespan == jobs.bound);
                QVERIFY(std::ranges::any_of(
                    e.problems, [](const Problem &problem) { return problem.severity == Severity::Blocking; }));
                continue;
            }
            ++evaluations;
            QVERIFY(*jobs.bound <= *jobs.makespan * (1 + 1e-6) + 1e-6);
            QVERIFY(*jobs.gpuUtilization > 0 && *jobs.gpuUtilization <= 1 + 1e-9);
            for (const JobResult &job : jobs.perJob)
                QCOMPARE(job.end.has_value(), job.state == JobState::Runs);
            QVERIFY(e.metrics.memory->fits);
            for (const HostUse &host : jobs.hosts)
                QVERIFY(host.capacity == 0 || double(host.peak) <= host.capacity);
            QCOMPARE(e.layout.classes[0].locations.size(), std::size_t(e.metrics.gpusTotal));
        }
        QVERIFY(evaluations > 50);
    }
};

TRAINYARD_APPLESS_TEST(TstRandomJobPlans)
#include "tst_random_job_plans.moc"
