// SPDX-License-Identifier: GPL-3.0-or-later
// What jobs take from the plan that they are in, and what of it says nothing to them.

#include "core/plan/job_plan.h"
#include "core/shards/job_workloads.h"
#include "tests/core/shards/job_plans.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

namespace {

JobWorkloads resolved(const Plan &plan)
{
    auto jobs = resolveJobs(share(plan), builtinCatalogue());
    if (!jobs)
        qFatal("%s", toString(jobs.error().front()).c_str());
    return std::move(*jobs);
}

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
};

QTEST_APPLESS_MAIN(TstJobsOfPlans)
#include "tst_jobs_of_plans.moc"
