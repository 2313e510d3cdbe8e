// SPDX-License-Identifier: GPL-3.0-or-later
// The checker finds what is wrong with schedules that were right.
#include "tests/core/systems/jobs/job_sets.h"
#include "tests/core/systems/jobs/schedule_checker.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <functional>

using namespace trainyard;
using namespace trainyard::test;

class TestScheduleChecker : public QObject {
    Q_OBJECT

    /// Three jobs of two shards on two GPUs, 10 bytes a shard, 1 s a unit.
    static JobSet three()
    {
        JobSet set = withTransfers(equalGpus(2, std::vector<Model>(3, { { 1, 1, 1 }, 2 })), 10, 10, 100);
        for (JobGpu &gpu : set.gpus)
            gpu.memory = 40;
        for (JobSpec &spec : set.jobs)
            spec.hostBytes = 20;
        set.nodes[0].memory = 60;
        return set;
    }
    std::string fault(const std::function<void(JobSet &, JobRun &)> &spoil, bool doubleBuffer = true)
    {
        JobSet set = three();
        const JobRules rules { .doubleBuffer = doubleBuffer };
        JobRun run = *runJobs(set, rules, m_workspace);
        spoil(set, run);
        return ScheduleChecker(set, rules, run).fault();
    }
    static const Track &track(const JobRun &run, Stream stream)
    {
        return *std::ranges::find(run.timeline.tracks, stream, &Track::stream);
    }

private slots:
    void aRightScheduleHasNoFault()
    {
        QCOMPARE(fault([](JobSet &, JobRun &) {}), std::string());
        QCOMPARE(fault([](JobSet &, JobRun &) {}, false), std::string());
    }

    void whatIsSpoiltIsFound_data()
    {
        using Spoil = std::function<void(JobSet &, JobRun &)>;
        QTest::addColumn<Spoil>("spoil");
        QTest::addColumn<QString>("says");
        const auto row = [](const char *name, Spoil spoil, const char *says) {
            QTest::newRow(name) << spoil << QString(says);
        };
        row(
            "two units at once on a GPU",
            [](JobSet &, JobRun &run) { run.timeline.start[track(run, Stream::Compute).first + 1] -= 900'000'000; },
            "units overlap on GPU");
        row(
            "a unit before its weights",
            [](JobSet &, JobRun &run) {
                const std::uint32_t unit = track(run, Stream::Compute).first;
                run.timeline.start[unit] -= 50'000'000;
                run.timeline.end[unit] -= 50'000'000;
            },
            "without its weights");
        row(
            "a unit that is cut short",
            [](JobSet &, JobRun &run) { run.timeline.end[track(run, Stream::Compute).first] -= 1; }, "lasts");
        row(
            "a unit of another job",
            [](JobSet &, JobRun &run) {
                run.timeline.taskClass[track(run, Stream::Compute).first] =
                    run.timeline.taskClass[run.timeline.tracks[3].first];
            },
            "units, not");
        row(
            "a unit of another shard",
            [](JobSet &, JobRun &run) { run.timeline.chunk[track(run, Stream::Compute).first] ^= 1; },
            "runs another unit in place of");
        row(
            "a load that is missing", [](JobSet &, JobRun &run) { --run.timeline.tracks[1].last; },
            "without its weights");
        row(
            "a store that is missing", [](JobSet &, JobRun &run) { --run.timeline.tracks[2].last; }, "returns");
        row(
            "a faster load", [](JobSet &, JobRun &run) { run.timeline.end[track(run, Stream::Load).first] -= 10; },
            "alone");
        row(
            "less memory on a GPU", [](JobSet &set, JobRun &) { set.gpus[1].memory = 19; }, "bytes of");
        row(
            "less memory of the host", [](JobSet &set, JobRun &) { set.nodes[0].memory = 59; }, "host");
        row(
            "a curve that is too low", [](JobSet &, JobRun &run) { run.hosts[0][0].bytes = 1; }, "its curve says");
        row(
            "a later arrival", [](JobSet &set, JobRun &) { set.jobs[2].arrival = 50; }, "before it has arrived");
        row(
            "a pin", [](JobSet &set, JobRun &) { set.jobs[0].gpus = { 1 }; }, "where it must not");
        row(
            "one engine", [](JobSet &set, JobRun &) { set.isFullDuplex = false; }, "loads and stores overlap");
        row(
            "a slow link",
            [](JobSet &set, JobRun &) {
                set.links = { 1 };
                set.routes[0].linksToGpu = { 0 };
            },
            "carries");
        row(
            "other times", [](JobSet &, JobRun &run) { ++run.jobs[1].computing; }, "what is said of job");
    }
    void whatIsSpoiltIsFound()
    {
        QFETCH(std::function<void(JobSet &, JobRun &)>, spoil);
        QFETCH(QString, says);
        const std::string found = fault(spoil);
        QVERIFY2(QString(found.c_str()).contains(says), found.c_str());
    }

private:
    SimulationWorkspace m_workspace;
};

TRAINYARD_APPLESS_TEST(TestScheduleChecker)
#include "tst_schedule_checker.moc"
