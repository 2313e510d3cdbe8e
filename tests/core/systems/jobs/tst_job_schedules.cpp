// SPDX-License-Identifier: GPL-3.0-or-later
// Every schedule is proven by a checker that shares no code with the scheduler.
#include "tests/core/systems/jobs/list_scheduler.h"
#include "tests/core/systems/jobs/random_job_set.h"
#include "tests/core/systems/jobs/schedule_checker.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

class TestJobSchedules : public QObject {
    Q_OBJECT

private slots:
    void everyScheduleKeepsTheRules()
    {
        RandomJobSet random(18);
        int ran = 0, stayed = 0, prefetched = 0, never = 0;
        std::size_t moves = 0;
        for (int i = 0; i < 6000; ++i) {
            const JobSet set = random();
            const JobRules rules = random.rules();
            const auto run = runJobs(set, rules, m_workspace);
            if (!run)
                QFAIL(qPrintable(QString("set %1: %2").arg(i).arg(toString(run.error()).c_str())));
            ScheduleChecker checker(set, rules, *run);
            const std::string fault = checker.fault();
            if (!fault.empty())
                QFAIL(qPrintable(QString("set %1: %2").arg(i).arg(fault.c_str())));
            for (const JobSpec &job : set.jobs)
                (neverRuns(set, job).empty() ? ran : never) += 1;
            stayed += checker.stayed;
            prefetched += checker.prefetched;
            for (const Track &track : run->timeline.tracks)
                moves += track.stream == Stream::Compute ? 0 : track.last - track.first;
        }
        // The sets have all of what is to be proven.
        qInfo("%d jobs, %d that never run, %d units in place, %zu transfers, %d ahead", ran, never, stayed, moves,
            prefetched);
        QVERIFY(ran > 20000 && never > 1000 && stayed > 1000 && moves > 100000 && prefetched > 10000);
    }

    void aListOfWhatAScheduleDidIsASchedule()
    {
        // Each unit after the one before it on its GPU and the one before it of its job, as soon as may be: without
        // transfers nothing ends later than where the list comes from.
        RandomJobSet random(21);
        int runs = 0;
        for (int i = 0; i < 2000; ++i) {
            JobSet set = random();
            for (JobNode &node : set.nodes)
                node.memory = std::numeric_limits<double>::infinity(); // who is let in first is no list's business
            JobRules rules = random.rules();
            const auto first = runJobs(set, rules, m_workspace);
            QVERIFY(first.has_value());
            rules.scheduler = JobScheduler::ShardMilp;
            rules.order.assign(set.gpus.size(), {});
            rules.numbers.assign(set.gpus.size(), {});
            const std::vector<GpuSpans> gpus = spansOf(set, first->timeline);
            for (std::size_t g = 0; g < gpus.size(); ++g)
                for (const JobSpan &unit : gpus[g].units) {
                    const std::vector<JobUnit> &units = set.jobs[unit.job].units;
                    const bool isBackward = first->timeline.kind[unit.span] == WorkKind::Backward;
                    const std::size_t u =
                        isBackward ? units.size() - 1 - std::size_t(unit.shard) : std::size_t(unit.shard);
                    rules.order[g].push_back(unit.job);
                    rules.numbers[g].push_back(unit.minibatch * std::int64_t(units.size()) + std::int64_t(u));
                }
            const auto run = runJobs(set, rules, m_workspace);
            if (!run)
                QFAIL(qPrintable(QString("set %1: %2").arg(i).arg(toString(run.error()).c_str())));
            const std::string fault = ScheduleChecker(set, rules, *run).fault();
            if (!fault.empty())
                QFAIL(qPrintable(QString("set %1: %2").arg(i).arg(fault.c_str())));
            if (set.routeOf.empty())
                QVERIFY(run->timeline.duration <= first->timeline.duration);
            runs += first->timeline.duration > 0;
        }
        QVERIFY(runs > 1500);
    }

private:
    SimulationWorkspace m_workspace;
};

TRAINYARD_APPLESS_TEST(TestJobSchedules)
#include "tst_job_schedules.moc"
