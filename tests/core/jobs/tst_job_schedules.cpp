// SPDX-License-Identifier: GPL-3.0-or-later
// Every schedule is proven by a checker that shares no code with the scheduler.
#include "tests/core/jobs/list_scheduler.h"
#include "tests/core/jobs/random_job_set.h"
#include "tests/core/jobs/schedule_checker.h"

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

private:
    SimulationWorkspace m_workspace;
};

QTEST_APPLESS_MAIN(TestJobSchedules)
#include "tst_job_schedules.moc"
