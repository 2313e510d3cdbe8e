// SPDX-License-Identifier: GPL-3.0-or-later
// What jobs take from the plan that they are in, and what of it says nothing to them.

#include "core/facts/plan/job_plan.h"
#include "core/iteration/job_shards/coarse_units.h"
#include "core/iteration/job_shards/job_workloads.h"
#include "core/systems/jobs/run_jobs.h"
#include "tests/core/iteration/job_shards/job_plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

namespace {

Plan ofOptimizer(Optimizer optimizer)
{
    Plan plan = jobPlan({ pool("a", "a100-sxm-40gb", 1, 2) }, { job("a", "opt-1.3b") });
    plan.jobs.front().optimizer = optimizer;
    return plan;
}

} // namespace

class TstJobsOfPlans : public QObject {
    Q_OBJECT

private slots:
    /// Projected states of an m x n matrix: r (m + 2n), so a smaller rank is less in host memory.
    void theRankOfProjectedGradientsIsThePlans()
    {
        Plan plan = ofOptimizer(Optimizer::Galore);
        plan.workload.galoreRank = 64;
        const double small = resolved(plan).set.jobs.front().hostBytes;
        plan.workload.galoreRank = 512;
        QVERIFY(small < resolved(plan).set.jobs.front().hostBytes);
    }

    void aShareOfTheMemoryHoldsForAllGpus()
    {
        Plan plan = ofOptimizer(Optimizer::Adam);
        const double whole = resolved(plan).set.gpus.front().memory;
        plan.heterogeneity.memoryFraction = 0.5;
        QVERIFY(resolved(plan).set.gpus.front().memory < 0.51 * whole);
    }

    /// The strategy of the plan's own iteration is not a job's.
    void whatThePlanDoesItselfSaysNothingToJobs()
    {
        const Plan plan = ofOptimizer(Optimizer::Adam);
        Plan other = plan;
        other.workload.globalBatch = 64;
        other.workload.precision = Precision::Fp32;
        other.parallelism.pipeline = 2;
        other.schedule = ScheduleKind::GPipe;
        other.memory.recompute = Recompute::Full;
        other.memory.savedActivationBits = 4;
        other.memory.optimizerOffload = OptimizerOffload::Host;
        other.moe.imbalance = 3;
        other.heterogeneity.accumulation = Accumulation::Layered;
        other.calibration["gemm"] = "1.5";
        QVERIFY(resolved(plan).set == resolved(other).set);
        QVERIFY(planOfJob(plan, plan.jobs.front()) == planOfJob(other, other.jobs.front()));
    }

    /// Each job's units are as coarse as its own mini-batches ask: work M x Σ t and transfers M x Σ bytes are what they
    /// are one by one, whatever runs on other GPUs.
    void aSmallJobBesideAHugeOneTakesAndMovesWhatItDoesAlone()
    {
        Plan plan =
            jobPlan({ pool("a", "v100-sxm-16gb", 1, 2) }, { job("huge", "gpt-3-1.3b"), job("small", "gpt-3-1.3b") });
        plan.jobs[0].minibatches = 4000;
        plan.jobs[1].minibatches = 10;
        for (const int gpu : { 0, 1 })
            plan.jobs[std::size_t(gpu)].pinnedGpus = { gpu };
        const JobSet fine = resolved(plan).set;
        QVERIFY(fine.jobs[1].units.size() > 1);
        SimulationWorkspace workspace;
        const auto exact = runJobs(fine, {}, workspace);
        for (const double factor : { 3.0, 7.0, 400.0 }) {
            JobSet coarse = fine;
            const double units = double(fine.jobs[0].units.size());
            QVERIFY(takeTogether(coarse, units * (std::ceil(4000 / factor) + std::ceil(10 / factor))) > 1);
            const auto run = runJobs(coarse, {}, workspace);
            QVERIFY(exact && run);
            for (std::size_t i = 0; i < 2; ++i) {
                const JobTimes &one = exact->jobs[i], &other = run->jobs[i];
                // What is in sight at both ends and at each turn stands for several mini-batches too
                QVERIFY2(std::abs(double(other.end) / double(one.end) - 1) < 0.35,
                    qPrintable(QString("%1: %2 %3").arg(factor).arg(double(one.end)).arg(double(other.end))));
                QVERIFY2(
                    std::abs(other.loaded / one.loaded - 1) < 0.15 && std::abs(other.stored / one.stored - 1) < 0.15,
                    qPrintable(QString("%1: %2 %3").arg(factor).arg(one.loaded).arg(other.loaded)));
            }
        }
    }

    /// Arrival + work < 10^9 s, which is what a timeline holds; the key is that of the larger part.
    void whatTakesTooLongNamesItsKey()
    {
        const auto whereOf = [](const Plan &plan) {
            const auto jobs = resolveJobs(share(plan), builtinCatalogue());
            return jobs ? std::string() : jobs.error().front().where;
        };
        Plan plan = jobPlan({ pool("a", "v100-sxm-16gb", 1, 2) }, { job("a", "opt-1.3b"), job("b", "opt-1.3b") });
        plan.jobs[1].arrivalS = 9e8;
        QCOMPARE(whereOf(plan), "");
        plan.jobs[1].arrivalS = 1e9;
        QCOMPARE(whereOf(plan), "jobs[1].arrival_s");
        plan.jobs[1].arrivalS = 0;
        plan.jobs[0].minibatches = 1000 * 1000 * 1000;
        QCOMPARE(whereOf(plan), "jobs[0].minibatches");
        plan.jobs.resize(1); // a third of what was allowed before, and failed in the run
        plan.jobs[0].minibatches = 1;
        const double seconds = longestRun(resolved(plan).set);
        plan.jobs[0].minibatches = int(1.1e9 / seconds);
        QCOMPARE(whereOf(plan), "jobs[0].minibatches");
        plan.jobs[0].minibatches = int(0.9e9 / seconds);
        QCOMPARE(whereOf(plan), "");
    }
};

TRAINYARD_APPLESS_TEST(TstJobsOfPlans)
#include "tst_jobs_of_plans.moc"
