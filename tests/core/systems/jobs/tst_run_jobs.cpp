// SPDX-License-Identifier: GPL-3.0-or-later
// What jobs share GPUs by: arrivals, priorities, pins, lists, memory of GPUs and hosts, links.
#include "tests/core/systems/jobs/job_sets.h"
#include "tests/core/systems/jobs/schedule_checker.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

class TestRunJobs : public QObject {
    Q_OBJECT

    JobRun run(const JobSet &set, const JobRules &rules = { .doubleBuffer = false })
    {
        auto ran = runJobs(set, rules, m_workspace);
        if (!ran)
            qFatal("%s", toString(ran.error()).c_str());
        const std::string fault = ScheduleChecker(set, rules, *ran).fault();
        if (!fault.empty())
            qFatal("%s", fault.c_str());
        return *std::move(ran);
    }
    static double start(const JobRun &run, std::size_t job) { return toSeconds(run.jobs[job].start).value; }
    static double end(const JobRun &run, std::size_t job) { return toSeconds(run.jobs[job].end).value; }

private slots:
    void aJobStartsWhenItHasArrived()
    {
        JobSet set = equalGpus(2, { { { 1 }, 2 }, { { 1 }, 2 } });
        set.jobs[1].arrival = .5;
        JobRun ran = run(set);
        QCOMPARE(start(ran, 1), .5);
        QCOMPARE(end(ran, 1), 2.5);
        set.jobs[1].arrival = 7; // all is idle until then
        ran = run(set);
        QCOMPARE(end(ran, 0), 2.0);
        QCOMPARE(start(ran, 1), 7.0);
        set.jobs[1].arrival = -3;
        QCOMPARE(start(run(set), 1), 0.0);
    }

    void anArrivalAtAnEndIsAmongTheChoices()
    {
        // At 1 s a unit of job 0 ends, which has 1 s left, and job 1 comes with 5: it is the longer.
        JobSet set = equalGpus(1, { { { 1 }, 2 }, { { 5 } } });
        set.jobs[1].arrival = 1;
        const JobRun ran = run(set);
        QCOMPARE(start(ran, 1), 1.0);
        QCOMPARE(end(ran, 0), 7.0);
    }

    void higherPrioritiesGoFirstUnderEveryScheduler()
    {
        JobSet set = equalGpus(1, { { { 1 }, 3 }, { { 2 }, 3 }, { { 1 }, 2 } });
        set.jobs[2].priority = 2;
        for (const JobScheduler scheduler : { JobScheduler::ShardedLrtf, JobScheduler::Fifo, JobScheduler::Random })
            for (const bool lookAhead : { false, true }) {
                const JobRun ran = run(set, { scheduler, false, lookAhead });
                QCOMPARE(end(ran, 2), 2.0);
            }
    }

    void pinnedJobsRunOnTheirGpusAlone()
    {
        JobSet set = equalGpus(3, { { { 1 }, 3 }, { { 1 }, 3 }, { { 1 }, 3 } });
        set.jobs[0].gpus = set.jobs[1].gpus = { 1 };
        const JobRun ran = run(set);
        QCOMPARE(ran.jobs[0].gpus, std::vector<int> { 1 });
        QCOMPARE(ran.jobs[1].gpus, std::vector<int> { 1 });
        QCOMPARE(std::max(end(ran, 0), end(ran, 1)), 6.0);
        QCOMPARE(end(ran, 2), 3.0);
    }

    void whatCanNeverRunIsLeftOut()
    {
        JobSet set = equalGpus(1, { { { 1 } }, { { 1 } } });
        set.nodes[0].memory = 10;
        set.jobs[0].hostBytes = 11;
        const JobRun ran = run(set);
        QCOMPARE(ran.jobs[0].start, JobTimes::kNever);
        QCOMPARE(ran.jobs[0].end, JobTimes::kNever);
        QCOMPARE(end(ran, 1), 1.0);
    }

    void aGpuFollowsItsList()
    {
        const JobSet set = equalGpus(2, { { { 1, 1, 1 } }, { { 2, 2, 2 } } });
        // The second GPU's list begins with a job whose first unit is the first GPU's: it waits for that.
        JobRules rules { .scheduler = JobScheduler::ShardMilp, .doubleBuffer = false };
        rules.order = { { 0, 1, 1, 1 }, { 0, 0 } };
        const JobRun ran = run(set, rules);
        QCOMPARE(ran.jobs[1].gpus, std::vector<int> { 0 });
        QCOMPARE(ran.jobs[0].gpus, (std::vector<int> { 0, 1 }));
        QCOMPARE(end(ran, 0), 3.0);
        QCOMPARE(end(ran, 1), 7.0);
        // What nobody's list names is left, and said so.
        rules.order = { { 0, 1, 1 }, { 0, 0, 9 } };
        const auto left = runJobs(set, rules, m_workspace);
        QVERIFY(!left);
        QCOMPARE(left.error().what, std::string("job job has 1 units left that no GPU takes"));
    }

    void theSameSeedGivesTheSameChoices()
    {
        const JobSet set = equalGpus(3, std::vector<Model>(9, { { .1, .3, .2 }, 5 }));
        JobRules rules { .scheduler = JobScheduler::Random, .doubleBuffer = false, .seed = 4 };
        const JobRun one = run(set, rules), same = run(set, rules);
        QCOMPARE(one.timeline.taskClass, same.timeline.taskClass);
        rules.seed = 5;
        QVERIFY(run(set, rules).timeline.taskClass != one.timeline.taskClass);
    }

    void aHostLetsInWhatItHasRoomFor()
    {
        // Room for two of three: the third comes when the first that ends has gone, a small fourth at once.
        JobSet set = equalGpus(4, { { { 2 } }, { { 3 } }, { { 1 } }, { { 1 } } });
        set.nodes[0].memory = 100;
        for (JobSpec &spec : set.jobs)
            spec.hostBytes = 45;
        set.jobs[3].hostBytes = 10;
        const JobRun ran = run(set);
        QCOMPARE(start(ran, 1), 0.0);
        QCOMPARE(start(ran, 2), 2.0);
        QCOMPARE(start(ran, 3), 0.0);
        QCOMPARE(ran.hostPeaks[0], 100.0);
        const std::vector<std::pair<double, std::int64_t>> curve { { 0, 100 }, { 1, 90 }, { 2, 90 }, { 3, 0 } };
        QCOMPARE(ran.hosts[0].size(), curve.size());
        for (std::size_t i = 0; i < curve.size(); ++i) {
            QCOMPARE(toSeconds(ran.hosts[0][i].time).value, curve[i].first);
            QCOMPARE(ran.hosts[0][i].bytes, curve[i].second);
        }
    }

    void aHostLetsInHigherPrioritiesFirst()
    {
        // Room for one at a time: job 0, which is alone at first, then by priority 2, 3 (equal ones in order), 1.
        JobSet set = equalGpus(4, { { { 2 } }, { { 1 } }, { { 1 } }, { { 1 } } });
        set.nodes[0].memory = 100;
        for (JobSpec &spec : set.jobs)
            spec.hostBytes = 60;
        for (std::size_t j = 1; j < 4; ++j)
            set.jobs[j].arrival = 1;
        set.jobs[2].priority = set.jobs[3].priority = 5;
        const JobRun ran = run(set);
        QCOMPARE(start(ran, 2), 2.0);
        QCOMPARE(start(ran, 3), 3.0);
        QCOMPARE(start(ran, 1), 4.0);
    }

    void aPeakIsOfWhatIsHeldWhenAnInstantIsOver()
    {
        // At 1 s job 0 makes 7 bytes and job 1 gives its 7 back.
        JobSet set = equalGpus(2, { { { 1, 1, 1 } }, { { .25, .25, .5 } } });
        for (JobSpec &spec : set.jobs) {
            spec.hostBoundaries = 7;
            spec.units[0].hostAfter = 7;
            spec.units[2].hostAfter = -7;
        }
        QCOMPARE(run(set).hostPeaks[0], 7.0);
        set.jobs[1].hostBytes = 1;
        QCOMPARE(run(set).hostPeaks[0], 8.0);
    }

    void boundariesComeAndGoInHostMemory()
    {
        JobSet set = equalGpus(1, { { { 1, 1, 1 } } });
        set.jobs[0].hostBytes = 100;
        set.jobs[0].hostBoundaries = 7;
        set.jobs[0].units[0].hostAfter = 7;
        set.jobs[0].units[2].hostAfter = -7;
        const JobRun ran = run(set);
        QCOMPARE(ran.hostPeaks[0], 107.0);
        QCOMPARE(ran.hosts[0].size(), std::size_t { 3 }); // 100 from 0, 107 from 1, nothing from 3 on
        QCOMPARE(ran.hosts[0][1].time, Nanoseconds { 1'000'000'000 });
        QCOMPARE(ran.hosts[0][1].bytes, std::int64_t { 107 });
    }

    void weightsStayWhereTheNextUnitUsesThem()
    {
        // One shard, one GPU: loaded once, 2 s, stored once, 2 s, three units of 1 s between.
        const JobSet set = withTransfers(equalGpus(1, { { { 1 }, 3 } }), 2, 2, 1);
        for (const bool doubleBuffer : { false, true }) {
            const JobRun ran = run(set, { .doubleBuffer = doubleBuffer });
            QCOMPARE(toSeconds(ran.timeline.duration).value, 7.0);
            QCOMPARE(ran.jobs[0].loaded, 2.0);
            QCOMPARE(ran.jobs[0].stored, 2.0);
        }
    }

    void withoutSpillingAGpuKeepsItsJobUntilThatHasEnded()
    {
        // Three jobs of 2, 3 and 4 units of 1 s on two GPUs, 1 s to load and 1 s to store. By remaining work job 2 (4
        // s) and job 1 (3 s) begin, and job 0 follows where job 1 has ended. Without a buffer: 1 + 3 + 1, then 1 + 2
        // + 1.
        JobSet set = withTransfers(equalGpus(2, { { { 1 }, 2 }, { { 1 }, 3 }, { { 1 }, 4 } }), 1, 1, 1);
        JobRun ran = run(set, { .doubleBuffer = false, .spill = false });
        QCOMPARE(end(ran, 2), 1.0 + 4);
        QCOMPARE(end(ran, 1), 1.0 + 3);
        QCOMPARE(end(ran, 0), 5.0 + 1 + 2);
        QCOMPARE(ran.jobs[0].gpus, ran.jobs[1].gpus);
        // With one the next job's weights come while the last unit computes.
        ran = run(set, { .doubleBuffer = true, .spill = false });
        QCOMPARE(end(ran, 0), 1.0 + 3 + 2);
        for (const JobScheduler scheduler : { JobScheduler::ShardedLrtf, JobScheduler::Fifo, JobScheduler::Random })
            for (const bool doubleBuffer : { false, true }) {
                ran = run(set, { .scheduler = scheduler, .doubleBuffer = doubleBuffer, .spill = false });
                for (const JobTimes &job : ran.jobs) {
                    QCOMPARE(job.loaded, 1.0);
                    QCOMPARE(job.stored, 1.0);
                    QCOMPARE(job.gpus.size(), std::size_t { 1 });
                }
            }
        // Not even for a job of a higher priority that comes in between.
        set.jobs[0].priority = 1;
        set.jobs[0].arrival = 2;
        QCOMPARE(end(run(set, { .doubleBuffer = false, .spill = false }), 1), 1.0 + 3);
    }

    void updatedStatesReturnAfterTheForwardThatFollowsInPlace()
    {
        // Shards 0 1 0: the backward pass of shard 0 brings 8 bytes, its forward pass 2 and sends nothing back.
        JobSet set = withTransfers(equalGpus(1, { { { 1, 1, 1 }, 2 } }), 8, 8, 1);
        set.jobs[0].units[0].weights = set.jobs[0].units[0].running = 2;
        set.jobs[0].units[0].writeBack = 0;
        const JobRun ran = run(set);
        QCOMPARE(ran.jobs[0].loaded, 2.0 + 8 + 8 + 8 + 8); // f0, 1, b0, (f0 in place), 1, b0
        QCOMPARE(ran.jobs[0].stored, 8.0 + 8 + 8 + 8); // 1, (b0: after f0), f0 with what b0 owed, 1, b0
    }

    void aBufferWaitsForMemory()
    {
        // Two jobs of 10 bytes that run in turn. 20 bytes hold a unit and the next one's weights; 15 do not.
        JobSet set = withTransfers(equalGpus(1, { { { 4 } }, { { 4 } } }), 10, 0, 10);
        set.gpus[0].memory = 20;
        QCOMPARE(toSeconds(run(set, {}).timeline.duration).value, 1.0 + 4 + 4);
        set.gpus[0].memory = 15;
        QCOMPARE(toSeconds(run(set, {}).timeline.duration).value, 1.0 + 4 + 1 + 4);
    }

    void gpusBehindOneLinkShareIt()
    {
        // Two loads of 10 bytes at 10 bytes/s alone; a link of 10 bytes/s for both: 2 s each.
        JobSet set = withTransfers(equalGpus(2, { { { 1 } }, { { 1 } } }), 10, 0, 10);
        QCOMPARE(toSeconds(run(set).timeline.duration).value, 2.0);
        set.links = { 10 };
        set.routes[0].linksToGpu = { 0 };
        QCOMPARE(toSeconds(run(set).timeline.duration).value, 3.0);
    }

    void causesNameWhatWasWaitedFor()
    {
        const JobSet set = withTransfers(equalGpus(1, { { { 1 } } }), 2, 2, 1);
        const JobRun ran = run(set);
        QCOMPARE(ran.timeline.cause, (std::vector<std::uint32_t> { 1, kNoSpan, 0 })); // unit, load, store
    }

    void tooLongAndCancelledAreErrors()
    {
        JobSet set = equalGpus(1, { { { 1 } } });
        set.jobs[0].minibatches = 2'000'000'000;
        const auto tooLong = runJobs(set, {}, m_workspace);
        QVERIFY(!tooLong && tooLong.error().code == ErrorCode::OutOfRange);
        set.jobs[0].seconds[0][0] = 1e-3;
        const auto tooMany = runJobs(set, {}, m_workspace);
        QVERIFY(!tooMany && tooMany.error().what == "2,000,000,000 units of work in one run");
        std::stop_source stop;
        stop.request_stop();
        const auto cancelled = runJobs(equalGpus(1, { { { 1 } } }), {}, m_workspace, stop.get_token());
        QVERIFY(!cancelled && cancelled.error().code == ErrorCode::Cancelled);
    }

    void nothingToDoIsNoError()
    {
        QCOMPARE(runJobs({}, {}, m_workspace)->timeline.duration, Nanoseconds { 0 });
        QCOMPARE(runJobs(equalGpus(2, {}), {}, m_workspace)->timeline.tracks.size(), std::size_t { 6 });
    }

private:
    SimulationWorkspace m_workspace;
};

TRAINYARD_APPLESS_TEST(TestRunJobs)
#include "tst_run_jobs.moc"
