// SPDX-License-Identifier: GPL-3.0-or-later
// Models are cut for the GPUs that reach their host, and small GPUs that only slow the others down are left out.

#include "core/evaluation/evaluate/run.h"
#include "core/iteration/job_shards/job_workloads.h"
#include "core/systems/jobs/run_jobs.h"
#include "tests/core/iteration/job_shards/job_plans.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

namespace {

double makespan(const Plan &plan)
{
    SimulationWorkspace workspace;
    const auto run = runJobs(resolved(plan).set, {}, workspace);
    if (!run)
        qFatal("%s", toString(run.error()).c_str());
    return double(run->timeline.duration) / 1e9;
}

std::vector<Job> some(int count)
{
    std::vector<Job> jobs;
    for (int i = 0; i < count; ++i) {
        jobs.push_back(job(("job " + std::to_string(i)).c_str(), i % 3 == 2 ? "gpt-3-2.7b" : "gpt-3-1.3b", 4, 10));
        jobs.back().precision = Precision::Fp32;
        jobs.back().optimizer = Optimizer::Sgd;
    }
    return jobs;
}

const Pool kSmall = pool("v", "v100-sxm-16gb", 1, 4, 488, 6), kLarge = pool("a", "a100-sxm-80gb", 1, 4, 488, 25);

/// One datacenter, whose fabric is so fast that all GPUs serve all hosts.
Plan joinedPlan(std::vector<Pool> pools, int jobs)
{
    Plan plan = jobPlan(std::move(pools), some(jobs));
    plan.cluster.datacenters.front().fabricGbpsPerGpu = 400;
    return plan;
}

} // namespace

class TstMixedGpus : public QObject {
    Q_OBJECT

private slots:
    /// K on a site of large GPUs = K where there are no others.
    void jobsOfAnotherDatacenterAreCutForItsGpus()
    {
        Plan plan = jobPlan({ kSmall }, some(6));
        plan.cluster.datacenters.push_back(jobPlan({ kLarge }, {}).cluster.datacenters.front());
        plan.cluster.datacenters.back().id = "far";
        const JobWorkloads mixed = resolved(plan), small = resolved(jobPlan({ kSmall }, some(6))),
                           large = resolved(jobPlan({ kLarge }, some(6)));
        int onLarge = 0;
        for (std::size_t i = 0; i < mixed.jobs.size(); ++i) {
            const bool isLarge = mixed.set.jobs[std::size_t(mixed.jobs[i].specIndex)].node == 1;
            onLarge += isLarge;
            QCOMPARE(mixed.jobs[i].shards.size(), (isLarge ? large : small).jobs[i].shards.size());
            QVERIFY(small.jobs[i].shards.size() > large.jobs[i].shards.size());
        }
        QVERIFY(onLarge > 0);
    }

    /// Pinned to GPUs of one kind, and dealt to their node: the other kind does not count.
    void pinsDecideTheCutToo()
    {
        Plan plan = joinedPlan({ kSmall, kLarge }, 2);
        plan.jobs[0].pinnedGpus = { 4, 5 };
        plan.jobs[1].pinnedGpus = { 0 };
        const JobWorkloads mixed = resolved(plan);
        QCOMPARE(mixed.jobs[0].shards.size(), resolved(joinedPlan({ kLarge }, 2)).jobs[0].shards.size());
        QVERIFY(mixed.jobs[1].shards.size() > mixed.jobs[0].shards.size());
    }

    /// T(small and large) <= T(large alone): whoever adds GPUs does not wait longer.
    void smallGpusMakeNothingSlower()
    {
        for (const int jobs : { 1, 3, 8, 16 }) {
            const double large = makespan(joinedPlan({ kLarge }, jobs)),
                         mixed = makespan(joinedPlan({ kSmall, kLarge }, jobs));
            QVERIFY2(mixed <= 1.02 * large,
                qPrintable(QString("%1 jobs: %2 s with small GPUs, %3 s without").arg(jobs).arg(mixed).arg(large)));
        }
    }

    void whyGpusAreLeftOutIsSaid()
    {
        static EvaluationWorkspace workspace;
        const auto evaluation =
            run(share(joinedPlan({ kSmall, kLarge }, 3)), Depth::Spans, { builtinCatalogue(), workspace });
        QVERIFY(evaluation);
        QCOMPARE((*evaluation)->layout.idle.size(), 2u);
        QVERIFY((*evaluation)->layout.idle.front().reason.contains("larger GPUs"));
        QVERIFY(!(*evaluation)->layout.idle.back().reason.contains("larger GPUs"));
    }

    /// nodes x GPUs = 1.25e7, whatever the jobs.
    void tenThousandGpusTakeManyJobs()
    {
        const JobWorkloads jobs = resolved(jobPlan({ pool("v", "v100-sxm-16gb", 1250, 8, 488, 12) }, some(81)));
        QCOMPARE(jobs.set.gpus.size(), 10000u);
        QCOMPARE(jobs.set.jobs.size(), 81u);
        QVERIFY(jobBounds(jobs.set).makespan() > 0);
        Plan many = jobPlan({ pool("v", "v100-sxm-16gb", 10000, 1, 488, 12) }, some(2));
        const auto ways = resolveJobs(share(many), builtinCatalogue());
        QVERIFY(!ways && ways.error().front().what.contains("too many ways"));
        many.jobScheduler = JobScheduler::TaskParallel; // which needs none
        const auto whole = resolveJobs(share(many), builtinCatalogue());
        QVERIFY2(whole, whole ? "" : toString(whole.error().front()).c_str());
    }
};

TRAINYARD_APPLESS_TEST(TstMixedGpus)
#include "tst_mixed_gpus.moc"
