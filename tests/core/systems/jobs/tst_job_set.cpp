// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/systems/jobs/job_sets.h"
#include "tests/core/systems/jobs/random_job_set.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Two datacenters: nodes 0 and 1 in the first with GPUs 0 and 1, node 2 in the second with GPUs 2 and 3.
JobSet twoDatacenters()
{
    JobSet set;
    set.nodes = { { .site = 0, .memory = 100e9 }, { .site = 0, .memory = 200e9 }, { .site = 1, .memory = 150e9 } };
    set.gpus = { { .node = 0 }, { .node = 1 }, { .node = 2 }, { .node = 2 } };
    return set;
}

JobSpec jobOf(double seconds, double hostBytes = 0)
{
    JobSpec spec = job({ { seconds } });
    spec.node = -1;
    spec.hostBytes = hostBytes;
    return spec;
}

} // namespace

class TestJobSet : public QObject {
    Q_OBJECT

private slots:
    void theBoundIsAllWorkOverAllGpusOrTheLongestJob()
    {
        // three jobs of 4, 2 and 2 s on two GPUs: max(8 / 2, 4); one that arrives at 3: 3 + 4
        JobSet set = equalGpus(2, { { { 1 }, 4 }, { { 2 } }, { { .5, 1, .5 } } });
        QCOMPARE(jobBounds(set).shared, 4.0);
        QCOMPARE(jobBounds(set).longest, 4.0);
        set.jobs[0].arrival = 3;
        QCOMPARE(jobBounds(set).longest, 7.0);
        QCOMPARE(jobBounds(set).makespan(), 7.0);
    }

    void unequalGpusCountByTheirSpeed()
    {
        // 12 s on the fast kind, 24 on the slow one: one of each is 1.5 fast GPUs
        JobSet set = equalGpus(2, { { { 3 }, 2 }, { { 6 } } });
        set.gpus[1].kind = 1;
        for (JobSpec &spec : set.jobs)
            spec.seconds.push_back({ 2 * spec.seconds[0][0] });
        QCOMPARE(jobBounds(set).shared, 8.0);
        QCOMPARE(jobBounds(set).longest, 6.0);
        // Where a unit of some job is no slower there, the GPU may be as good as the other.
        set.jobs[1].seconds[1] = { 6 };
        QCOMPARE(jobBounds(set).shared, 6.0);
    }

    void noScheduleIsShorterThanTheBound()
    {
        SimulationWorkspace workspace;
        RandomJobSet random(99);
        for (int i = 0; i < 1000; ++i) {
            const JobSet set = random();
            const auto run = runJobs(set, random.rules(), workspace);
            QVERIFY(run.has_value());
            // Each unit is rounded to a nanosecond, and lasts one at least.
            QVERIFY(toSeconds(run->timeline.duration).value >= jobBounds(set).makespan() - 1e-6);
        }
    }

    void whatCanNeverRunSaysWhy()
    {
        JobSet set = twoDatacenters();
        JobSpec spec = jobOf(1, 310e9);
        QCOMPARE(neverRuns(set, spec), std::string("needs 310 GB of host memory, node 1 has 200 GB"));
        spec.node = 0;
        QCOMPARE(neverRuns(set, spec), std::string("needs 310 GB of host memory, node 0 has 100 GB"));
        spec.hostBytes = 0;
        QCOMPARE(neverRuns(set, spec), std::string());
        spec.gpus = { 2 };
        QCOMPARE(neverRuns(set, spec), std::string("is pinned to GPUs that cannot be reached from its host, node 0"));
        spec.gpus = {};
        spec.node = 7;
        QCOMPARE(neverRuns(set, spec), std::string("its host, node 7, does not exist"));
        spec.node = 2;
        spec.units[0].running = 40e9;
        set.gpus[2].memory = set.gpus[3].memory = 24e9;
        QCOMPARE(neverRuns(set, spec),
            std::string("needs 40.0 GB of GPU memory for its largest unit, the largest GPU has 24.0 GB for units"));
        spec.units[0].running = 0;
        spec.units[0].weights = 1e9; // there is no route
        QCOMPARE(neverRuns(set, spec), std::string("no GPU can be reached from its host, node 2"));
        spec.units[0].weights = 0;
        spec.seconds = { {} };
        QCOMPARE(neverRuns(set, spec),
            std::string("runs on none of the kinds of GPU that can be reached from its host, node 2"));
        spec.units.clear();
        QCOMPARE(neverRuns(set, spec), std::string("has no work"));
    }

    void aLinkThatCarriesNothingIsNoWay()
    {
        JobSet set = withTransfers(equalGpus(1, { { { 1 } } }), 10, 10, 1);
        QCOMPARE(neverRuns(set, set.jobs[0]), std::string());
        set.links = { 0 };
        set.routes[0].linksToHost = { 0 };
        QVERIFY(!neverRuns(set, set.jobs[0]).empty());
        set.routes[0].linksToHost = {};
        QCOMPARE(neverRuns(set, set.jobs[0]), std::string());
    }

    void jobsGoToTheDatacenterThatWouldHaveDoneWithThemFirst()
    {
        // Two GPUs each. Longest first: 8 to the first, 6 to the second (3 s of both GPUs there, 4 here), 4 to the
        // second (5, or 6), 2 to the first (5 each, but no sooner than it takes alone): a tie goes to the first.
        JobSet set = twoDatacenters();
        set.jobs = { jobOf(2), jobOf(8), jobOf(4), jobOf(6) };
        dealJobs(set);
        QCOMPARE(set.nodes[std::size_t(set.jobs[1].node)].site, 0);
        QCOMPARE(set.nodes[std::size_t(set.jobs[3].node)].site, 1);
        QCOMPARE(set.nodes[std::size_t(set.jobs[2].node)].site, 1);
        QCOMPARE(set.nodes[std::size_t(set.jobs[0].node)].site, 0);
    }

    void insideADatacenterTheHostWithTheMostRoomTakesIt()
    {
        JobSet set = twoDatacenters();
        set.nodes[2].memory = 1; // no room at all
        set.jobs = { jobOf(4, 60e9), jobOf(3, 80e9), jobOf(2, 50e9), jobOf(1, 10e9) };
        dealJobs(set); // room 100 and 200; 140; 60; 10 less than the 100 of the first
        QCOMPARE(set.jobs[0].node, 1);
        QCOMPARE(set.jobs[1].node, 1);
        QCOMPARE(set.jobs[2].node, 0);
        QCOMPARE(set.jobs[3].node, 1);
    }

    void pinnedJobsLieWhereTheirGpusAre()
    {
        JobSet set = twoDatacenters();
        set.jobs = { jobOf(1), jobOf(1), jobOf(1) };
        set.jobs[0].gpus = { 3 };
        set.jobs[1].gpus = { 0 };
        set.jobs[2].node = 2;
        dealJobs(set);
        QCOMPARE(set.jobs[0].node, 2);
        QCOMPARE(set.jobs[1].node, 0);
        QCOMPARE(set.jobs[2].node, 2); // it had one
    }

    void whatCannotRunIsDealtAllTheSame()
    {
        JobSet set = twoDatacenters();
        set.jobs = { jobOf(1, 1e15), jobOf(1) };
        set.jobs[1].gpus = { 17 };
        dealJobs(set);
        for (const JobSpec &spec : set.jobs) {
            QVERIFY(spec.node >= 0);
            QVERIFY(!neverRuns(set, spec).empty());
        }
        JobSet nothing;
        nothing.jobs = { jobOf(1) };
        dealJobs(nothing);
        QCOMPARE(neverRuns(nothing, nothing.jobs[0]), std::string("there is no GPU"));
    }
};

TRAINYARD_APPLESS_TEST(TestJobSet)
#include "tst_job_set.moc"
