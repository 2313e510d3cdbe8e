// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan says that says nothing to its jobs, and pins that are of no use, in words.

#include "core/evaluation/evaluate/run.h"
#include "tests/core/iteration/job_shards/job_plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;
using namespace trainyard::test;

namespace {

const Problem *problemAt(const Evaluation &evaluation, const std::string &where)
{
    const auto found = std::ranges::find(evaluation.problems, where, &Problem::where);
    return found == evaluation.problems.end() ? nullptr : &*found;
}

EvaluationPtr evaluated(const Plan &plan)
{
    static EvaluationWorkspace workspace;
    auto evaluation = run(share(plan), Depth::Score, { builtinCatalogue(), workspace });
    if (!evaluation)
        qFatal("%s", toString(evaluation.error().front()).c_str());
    return *evaluation;
}

Plan small()
{
    Plan plan = jobPlan({ pool("a", "a100-sxm-40gb", 1, 2) }, { job("a", "opt-125m"), job("b", "opt-125m") });
    for (Pool &pool : plan.cluster.datacenters.front().pools)
        pool.host->gbytesPerSecondPerGpu = 12;
    return plan;
}

} // namespace

class TstJobProblems : public QObject {
    Q_OBJECT

private slots:
    void sectionsThatSayNothingToJobsAreNamed()
    {
        Plan plan = small();
        plan.workload.galoreRank = 64; // these two do
        plan.heterogeneity.memoryFraction = 0.9;
        QVERIFY(evaluated(plan)->problems.empty());
        plan.parallelism.pipeline = 4;
        plan.memory.recompute = Recompute::Full;
        const EvaluationPtr two = evaluated(plan);
        const Problem *aside = problemAt(*two, "parallelism");
        QVERIFY(aside && aside->severity == Severity::Note);
        QCOMPARE(aside->text, "The plan's own parallelism and memory are set aside while there are jobs");
        plan = small();
        plan.workload.globalBatch = 8;
        QCOMPARE(
            problemAt(*evaluated(plan), "workload")->text, "The plan's own workload is set aside while there are jobs");
    }

    void measurementsOfThePlanThatAreNotUsedAreNamed()
    {
        Plan plan = small();
        plan.calibration["gemm"] = "1.2";
        plan.profile.emplace();
        plan.layerProfiles.emplace().gpus["a100-sxm-40gb"];
        const EvaluationPtr e = evaluated(plan);
        QVERIFY(problemAt(*e, "calibration"));
        QVERIFY(problemAt(*e, "profile"));
        QVERIFY(problemAt(*e, "profile")->text.contains("profile and layer_profiles are set aside"));
    }

    /// Pinned to GPUs 0 and 1 of two datacenters: its host is in one of them.
    void pinsThatAreOfNoUseAreNamed()
    {
        Plan plan = small();
        plan.cluster.datacenters.push_back(plan.cluster.datacenters.front());
        plan.cluster.datacenters.back().id = "far";
        plan.cluster.datacenters.back().pools.front().id = "b";
        plan.jobs[0].pinnedGpus = { 1, 2 };
        plan.jobs[1].pinnedGpus = { 2, 3 };
        const EvaluationPtr e = evaluated(plan);
        const Problem *pins = problemAt(*e, "jobs[0].pinned_gpus");
        QVERIFY(pins && pins->severity == Severity::Warning);
        QVERIFY2(pins->text.contains("GPU 2 too, which does not reach its host"), pins->text.c_str());
        QVERIFY(!problemAt(*e, "jobs[1].pinned_gpus"));
    }

    /// GPUs 0 and 1 are there: a job pinned to 99 alone cannot run, which is one fault; one pinned to 0 as well can.
    void aPinToAGpuThatIsMissingIsOneFault()
    {
        Plan plan = small();
        plan.jobs[0].pinnedGpus = { 99 };
        EvaluationPtr e = evaluated(plan);
        QVERIFY(!problemAt(*e, "jobs[0].pinned_gpus"));
        QCOMPARE(
            problemAt(*e, "jobs[0]")->text, "a cannot run: it is pinned to GPU 99, and the cluster has GPUs 0 to 1");
        plan.jobs[0].pinnedGpus = { 0, 99 };
        e = evaluated(plan);
        QVERIFY(!problemAt(*e, "jobs[0]"));
        QCOMPARE(problemAt(*e, "jobs[0].pinned_gpus")->text, "a is pinned to GPU 99, and the cluster has GPUs 0 to 1");
    }

    void jobsThatCannotRunForOneReasonAreOneProblem()
    {
        Plan plan = small();
        plan.cluster.datacenters.front().pools.front().host->memoryGib = 0.01;
        const EvaluationPtr e = evaluated(plan);
        const Problem *all = problemAt(*e, "jobs[0]");
        QVERIFY(all && all->severity == Severity::Blocking);
        QVERIFY2(all->text.starts_with("a and 1 other job cannot run: needs "), all->text.c_str());
        QVERIFY(!problemAt(*e, "jobs[1]"));
        QVERIFY2(e->layout.idle.front().reason == "no job can run", e->layout.idle.front().reason.c_str());
    }

    /// slowdown = (end - arrival) / alone, which is the same where nobody else is there but for what precedes its
    /// start.
    void aJobAloneIsNotSlowedDown()
    {
        Plan plan = jobPlan({ pool("a", "v100-sxm-16gb", 1, 8) }, { job("a", "gpt-3-1.3b") });
        plan.jobs[0].minibatches = 20;
        const EvaluationPtr e = evaluated(plan);
        const JobResult &alone = e->metrics.jobs->perJob[0];
        QVERIFY(alone.end && alone.start && alone.slowdown);
        QVERIFY2(*alone.slowdown >= 1 && *alone.slowdown <= *alone.end / (*alone.end - *alone.start) + 1e-9,
            std::to_string(*alone.slowdown).c_str());
    }

    /// The answer depends on it: a note says what PCIe is taken to reach where the plan states nothing.
    void aCopyRateThatIsNotStatedIsTold()
    {
        Plan plan = small();
        const char *key = "cluster.datacenters[0].pools[0].host.gbytes_per_s_per_gpu";
        QVERIFY(!problemAt(*evaluated(plan), key));
        plan.cluster.datacenters.front().pools.front().host->gbytesPerSecondPerGpu = 0;
        const EvaluationPtr e = evaluated(plan);
        QVERIFY(problemAt(*e, key) && problemAt(*e, key)->severity == Severity::Note);
        QVERIFY(problemAt(*e, key)->text.contains(" GB/s each way"));
    }
};

TRAINYARD_APPLESS_TEST(TstJobProblems)
#include "tst_job_problems.moc"
