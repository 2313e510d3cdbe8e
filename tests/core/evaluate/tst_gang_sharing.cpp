// SPDX-License-Identifier: GPL-3.0-or-later
// What whole jobs share and what they wait for: hosts, GPUs of unlike speed, the plan that they are in.
#include "tests/core/evaluate/gang_runs.h"

using namespace trainyard;
using namespace trainyard::test;

class TestGangSharing : public QObject {
    Q_OBJECT

private slots:
    void jobsThatFillAHostTakeTurnsThere()
    {
        // Each alone fits, both together would not: pins apart do not let them share a host.
        Plan plan = planOf(JobScheduler::ZeroOffload, 4, 2, job("gpt-3-13b", 4, 3));
        plan.jobs[0].pinnedGpus = { 0, 1 };
        plan.jobs[1].pinnedGpus = { 2, 3 };
        const double alone = double(m_run(plan).gangs[0].forms[0]->hostBytes);
        plan.cluster.datacenters[0].pools[0].host->memoryGib = 1.5 * alone / 0x1p30;
        const Result result = m_run(plan);
        const auto &times = result.run.run.jobs;
        QCOMPARE(times[1].start, times[0].end);
        QVERIFY(result.run.run.hostPeaks[0] <= result.jobs.nodes[0].memory);
        checkSpans(result);
        // Two nodes have two hosts.
        plan.cluster.datacenters[0].pools[0].nodes = 2;
        plan.cluster.datacenters[0].pools[0].gpusPerNode = 2;
        QCOMPARE(m_run(plan).run.run.jobs[1].start, Nanoseconds(0));
    }

    void statesAreCountedWhereNobodySaysWhatAHostHas()
    {
        // 14 bytes of 13e9 parameters, as above
        Plan plan = planOf(JobScheduler::ZeroOffload, 4, 1, job("gpt-3-13b", 4, 3));
        plan.cluster.datacenters[0].pools[0].host.reset();
        const Result result = m_run(plan);
        QVERIFY2(result.run.run.hostPeaks[0] > 14 * 12.8e9, qPrintable(QString::number(result.run.run.hostPeaks[0])));
    }

    void aShareOfTheMemoryHoldsForWholeJobs()
    {
        // Weights, gradients and Adam's states: more than 16 bytes of 2.7e9 parameters, 43 GB of 80, not of 20.
        Plan plan = planOf(JobScheduler::TaskParallel, 1, 1, job("gpt-3-2.7b", 4, 3));
        const Result whole = m_run(plan);
        QVERIFY2(whole.jobs.jobs[0].why.empty(), whole.jobs.jobs[0].why.c_str());
        plan.heterogeneity.memoryFraction = 0.25;
        const Result part = m_run(plan);
        QVERIFY(part.gangs.empty());
        QVERIFY2(part.jobs.jobs[0].why.starts_with("it needs at the least"), part.jobs.jobs[0].why.c_str());
    }

    void thePlansOwnStrategySaysNothingToJobs()
    {
        Plan plan = planOf(JobScheduler::Pipeline, 4, 1, job("gpt-3-1.3b", 8, 3));
        const Nanoseconds makespan = m_run(plan).run.makespan;
        plan.memory.recompute = Recompute::Full;
        plan.memory.savedActivationBits = 4;
        plan.moe.imbalance = 3;
        QCOMPARE(m_run(plan).run.makespan, makespan);
    }

private:
    Gangs m_run;
};

QTEST_APPLESS_MAIN(TestGangSharing)
#include "tst_gang_sharing.moc"
