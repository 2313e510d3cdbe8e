// SPDX-License-Identifier: GPL-3.0-or-later
// The worked examples of Hydra's specification, by the unit-time formula with an independent list scheduler, and on the
// engine with transfers as tasks.
#include "tests/core/jobs/list_scheduler.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Seconds until the last unit has ended; stores may follow it.
double lastUnit(const JobRun &run)
{
    Nanoseconds end = 0;
    for (const JobTimes &times : run.jobs)
        end = std::max(end, times.end);
    return toSeconds(end).value;
}

std::vector<Model> withUnitTimes(std::vector<Model> models, double lambda, double upsilon, bool isBuffered)
{
    for (Model &model : models)
        for (double &unit : model.units)
            unit = unitSeconds(unit, lambda, upsilon, isBuffered, true);
    return models;
}

} // namespace

class TestGoldenJobs : public QObject {
    Q_OBJECT

    double run(const JobSet &set, JobScheduler scheduler, bool doubleBuffer, bool lookAhead = false,
        RemainingWork remaining = RemainingWork::Units)
    {
        const auto ran = runJobs(set,
            { .scheduler = scheduler, .doubleBuffer = doubleBuffer, .lookAhead = lookAhead, .remaining = remaining },
            m_workspace);
        if (!ran) {
            qWarning("%s", toString(ran.error()).c_str());
            return -1;
        }
        return lastUnit(*ran);
    }

private slots:
    void theUnitTimeFormulaOverlapsWhatItsSwitchesAllow()
    {
        // no buffer: lambda + t + upsilon; double buffer: max(t, lambda + upsilon), full duplex max(t, lambda, upsilon)
        QCOMPARE(unitSeconds(.2, .05, .03, false, true), .28);
        QCOMPARE(unitSeconds(.1, .07, .06, true, false), .13);
        QCOMPARE(unitSeconds(.1, .07, .06, true, true), .1);
        QCOMPARE(unitSeconds(.1, .12, .06, true, true), .12);
    }

    void twelveModelsOnEightGpusByTheFormula()
    {
        // W = 1.2 s a mini-batch x 10 x 12 models = 144 s; / 8 GPUs = 18 s, and the longest job is 12 s
        const JobSet set = equalGpus(8, twelveModels());
        QCOMPARE(jobBounds(set).makespan(), 18.0);
        QCOMPARE(jobBounds(set).longest, 12.0);
        QCOMPARE(listMakespan(8, twelveModels()), 18.0);
        // lambda .05 is hidden: max(t, .05) = t
        QCOMPARE(listMakespan(8, withUnitTimes(twelveModels(), .05, .05, true)), 18.0);
        // lambda .15: the three units of .1 take .15, so a mini-batch 1.35 s: 1.35 x 120 / 8
        QCOMPARE(listMakespan(8, withUnitTimes(twelveModels(), .15, .15, true)), 20.25);
        // no buffer: 7 x .1 more a mini-batch: 1.9 x 120 / 8
        QCOMPARE(listMakespan(8, withUnitTimes(twelveModels(), .05, .05, false)), 28.5);
        // model parallelism runs one unit at a time: all on one GPU
        QCOMPARE(listMakespan(1, twelveModels()), 144.0);
    }

    void twelveModelsOnTheEngineWithoutTransfers()
    {
        QCOMPARE(run(equalGpus(8, twelveModels()), JobScheduler::ShardedLrtf, false), 18.0);
        QCOMPARE(run(equalGpus(8, twelveModels()), JobScheduler::ShardedLrtf, true), 18.0);
        QCOMPARE(run(equalGpus(1, twelveModels()), JobScheduler::ShardedLrtf, false), 144.0);
    }

    void fiveModelsOnThreeGpusThatAMeanCannotPass()
    {
        const JobSet set = equalGpus(3, fiveModels());
        QCOMPARE(jobBounds(set).makespan(), 10.2);
        struct Case {
            bool lookAhead, byMinibatches, isFifo;
            double seconds;
        };
        for (const Case &c : { Case { false, false, false, 10.25 }, Case { true, false, false, 10.35 },
                 Case { false, true, false, 10.5 }, Case { true, true, false, 10.45 },
                 Case { false, false, true, 11.4 } }) {
            QCOMPARE(listMakespan(3, fiveModels(), { c.lookAhead, c.byMinibatches, c.isFifo }), c.seconds);
            QCOMPARE(run(set, c.isFifo ? JobScheduler::Fifo : JobScheduler::ShardedLrtf, false, c.lookAhead,
                         c.byMinibatches ? RemainingWork::Minibatches : RemainingWork::Units),
                c.seconds);
        }
    }

private:
    SimulationWorkspace m_workspace;
};

QTEST_APPLESS_MAIN(TestGoldenJobs)
#include "tst_golden_jobs.moc"
