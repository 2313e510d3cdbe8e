// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/jobs/shard_milp.h"
#include "tests/core/systems/jobs/job_sets.h"
#include "tests/core/systems/jobs/schedule_checker.h"
#include "tests/core/systems/jobs/shortest_schedule.h"
#include "tests/support/test_program.h"
#include "tests/support/trials.h"

#include <QTest>

#include <random>

using namespace trainyard;
using namespace trainyard::test;

namespace {

int draw(std::mt19937 &random, int low, int high)
{
    return low + int(random() % unsigned(high - low + 1));
}

/// Chains of units with whole seconds, as jobs and as what the exhaustive search takes.
struct Instance {
    JobSet set;
    std::vector<Chain> chains;
    std::vector<int> gpus; // [kind]

    Instance(std::mt19937 &random, int kinds, int mostUnits)
    {
        set.nodes.resize(1);
        gpus.resize(std::size_t(kinds), 0);
        for (int g = draw(random, 2, 3); g > 0; --g) {
            const int kind = draw(random, 0, kinds - 1);
            set.gpus.push_back({ .kind = kind });
            ++gpus[std::size_t(kind)];
        }
        for (int j = draw(random, int(set.gpus.size()), 4); j > 0; --j) {
            const int units = random() % 3 == 0 ? draw(random, 1, mostUnits) : random() % 2 == 0 ? 1 : 3;
            const int minibatches = std::max(1, draw(random, 1, mostUnits / units));
            JobSpec spec = job({ std::vector<double>(std::size_t(units), 0), minibatches });
            Chain chain { {}, random() % 5 == 0 ? draw(random, 1, 6) : 0 };
            spec.arrival = chain.arrival;
            spec.seconds.assign(std::size_t(kinds), {});
            chain.times.resize(std::size_t(kinds));
            const int missing = kinds > 1 && random() % 4 == 0 && gpus.back() < int(set.gpus.size()) ? kinds - 1 : -1;
            for (int kind = 0; kind < kinds; ++kind) {
                if (kind == missing)
                    continue;
                for (int u = 0; u < units; ++u)
                    spec.seconds[std::size_t(kind)].push_back(draw(random, 1, 6));
                for (int u = 0; u < units * minibatches; ++u)
                    chain.times[std::size_t(kind)].push_back(
                        int(spec.seconds[std::size_t(kind)][std::size_t(u % units)]));
            }
            set.jobs.push_back(std::move(spec));
            chains.push_back(std::move(chain));
        }
    }
};

/// Whether each GPU ran the units of its list, and no others, in that order.
bool followsLists(const JobSet &set, const JobRules &rules, const JobRun &run)
{
    const std::vector<GpuSpans> gpus = spansOf(set, run.timeline);
    std::vector<JobSpan> all;
    for (const GpuSpans &gpu : gpus)
        all = merged(std::move(all), gpu.units);
    std::vector<std::int64_t> next(set.jobs.size(), 0);
    UnitOrder order(set.gpus.size());
    UnitNumbers numbers(set.gpus.size());
    for (const JobSpan &unit : all) { // none takes no time, so a job's units are in the order of their start
        order[unit.gpu].push_back(unit.job);
        numbers[unit.gpu].push_back(next[unit.job]++);
    }
    return order == rules.order && numbers == rules.numbers;
}

/// What is wrong with the answer, when it is run; empty: nothing.
std::string fault(const JobSet &set, const ShardMilpAnswer &answer)
{
    SimulationWorkspace workspace;
    const auto run = runJobs(set, answer.rules, workspace);
    if (!run)
        return toString(run.error());
    double last = 0;
    for (const JobTimes &job : run->jobs)
        last = std::max(last, double(job.end) * 1e-9);
    if (std::abs(last - answer.makespan) > 1e-9)
        return "another makespan than it says";
    if (!answer.isLrtf && !followsLists(set, answer.rules, *run))
        return "a GPU does not follow its list";
    return ScheduleChecker(set, answer.rules, *run).fault();
}

} // namespace

class TestShardMilp : public QObject {
    Q_OBJECT
private slots:
    void itIsAsShortAsTryingEveryScheduleSaysOnEqualGpus()
    {
        SimulationWorkspace workspace;
        std::mt19937 random(18);
        int beaten = 0, searched = 0;
        for (int i = 0; i < trials(100); ++i) {
            const Instance instance(random, 1, 8);
            const JobRules rules { .doubleBuffer = i % 2 == 0, .lookAhead = i % 3 == 0 };
            const auto answer = shardMilp(instance.set, rules, {}, workspace);
            QVERIFY2(answer, answer ? "" : toString(answer.error()).c_str());
            // makespan = the shortest of all schedules
            const int shortest = ShortestSchedule(instance.chains, instance.gpus).length();
            QVERIFY2(std::abs(answer->makespan - shortest) < 1e-6, qPrintable(QString::number(i)));
            QVERIFY(answer->isProven && std::abs(answer->bound - shortest) < 1e-6);
            QVERIFY(answer->lrtf >= answer->makespan);
            QCOMPARE(QString::fromStdString(fault(instance.set, *answer)), QString());
            beaten += !answer->isLrtf;
            searched += answer->searches > 0;
        }
        QVERIFY2(beaten > trials(100) / 20 && searched > trials(100) / 20, // the rule alone would not have done
            qPrintable(QStringLiteral("%1 beaten, %2 searched").arg(beaten).arg(searched)));
    }

    void itIsSoOnUnequalGpus()
    {
        SimulationWorkspace workspace;
        std::mt19937 random(7);
        int beaten = 0;
        for (int i = 0; i < trials(30); ++i) {
            const Instance instance(random, 2, 4);
            const JobRules rules { .doubleBuffer = i % 2 == 0 };
            const auto answer = shardMilp(instance.set, rules, { .seconds = 120 }, workspace);
            QVERIFY2(answer, answer ? "" : toString(answer.error()).c_str());
            const int shortest = ShortestSchedule(instance.chains, instance.gpus).length();
            QVERIFY2(std::abs(answer->makespan - shortest) < 1e-6, qPrintable(QString::number(i)));
            QVERIFY(answer->isProven);
            QCOMPARE(QString::fromStdString(fault(instance.set, *answer)), QString());
            beaten += !answer->isLrtf;
        }
        QVERIFY(beaten > trials(30) / 6);
    }

    void theSameSetHasTheSameAnswer()
    {
        SimulationWorkspace workspace;
        std::mt19937 random(3);
        for (int i = 0; i < 30; ++i) {
            const Instance instance(random, 1 + i % 2, 5);
            const auto first = shardMilp(instance.set, {}, { .seconds = 120 }, workspace);
            const auto second = shardMilp(instance.set, {}, { .seconds = 120 }, workspace);
            QCOMPARE(first->rules.order, second->rules.order);
            QCOMPARE(first->rules.numbers, second->rules.numbers);
            QCOMPARE(first->makespan, second->makespan);
            QCOMPARE(first->searches, second->searches);
        }
    }

    void whereARuleReachesTheBoundNobodyAsksASolver()
    {
        SimulationWorkspace workspace; // 12 models on 8 GPUs: 18 s = sum of W / G (2107.06469)
        const JobSet set = equalGpus(8, std::vector<Model>(12, { { .1, .1, .1, .3, .2, .2, .2 }, 10 }));
        const auto answer = shardMilp(set, {}, { .program = "/nowhere/cbc" }, workspace);
        QVERIFY(answer && answer->isLrtf && answer->isProven);
        QCOMPARE(answer->searches, 0);
        QVERIFY(std::abs(answer->makespan - 18) < 1e-6);
    }

    void mixedModelsReachTheBoundThatTheRuleMisses()
    {
        SimulationWorkspace workspace; // five models on three GPUs: bound 10.2 s, sharded-LRTF 10.25 s
        const JobSet set = equalGpus(3,
            { { { .1, .1, .3, .2, .2 }, 6 }, { { .2, .2, .6, .4, .4 }, 3 }, { { .05, .05, .15, .1, .1 }, 20 },
                { { .3, .5, .4 }, 5 }, { { .1, .1, .1, .3, .2, .2, .2 }, 4 } });
        const auto answer = shardMilp(set, { .doubleBuffer = false }, { .seconds = 100 }, workspace);
        QVERIFY(answer);
        QVERIFY(std::abs(answer->lrtf - 10.25) < 1e-6);
        QVERIFY(std::abs(answer->makespan - 10.2) < 1e-6);
        QVERIFY(answer->isProven && !answer->isLrtf); // no schedule is shorter than its bound
        QVERIFY(answer->unitsPerTask > 1); // mini-batches were enough
        QCOMPARE(QString::fromStdString(fault(set, *answer)), QString());
    }

    void aLargeSetIsTakenInLargerPieces()
    {
        SimulationWorkspace workspace;
        std::vector<Model> models;
        for (int i = 0; i < 9; ++i) // 9 of one length on 8 GPUs: no rule fills the last round
            models.push_back({ { .1 + .013 * i, .3, .2 }, 40 });
        const JobSet set = equalGpus(8, models);
        const auto answer = shardMilp(set, {}, { .seconds = 1, .nodes = 50, .columns = 1500 }, workspace);
        QVERIFY(answer);
        QVERIFY(answer->unitsPerTask > 3);
        QVERIFY(answer->columns <= 1500);
        QVERIFY(answer->makespan <= answer->lrtf && answer->bound <= answer->makespan);
        QCOMPARE(QString::fromStdString(fault(set, *answer)), QString());
    }

    void aSetThatNoProgrammeHoldsIsLeftToTheRule()
    {
        SimulationWorkspace workspace;
        std::vector<Model> models;
        for (int i = 0; i < 300; ++i)
            models.push_back({ { .1 + .0013 * i, .3, .2 }, 4 });
        const auto answer =
            shardMilp(equalGpus(7, models), {}, { .columns = 100, .program = "/nowhere/cbc" }, workspace);
        QVERIFY(answer && answer->isTooLarge && answer->isLrtf && answer->searches == 0);
        QCOMPARE(answer->makespan, answer->lrtf);
    }

    void transfersAreInTheTimesAndTheRunIsStillNeverLonger()
    {
        SimulationWorkspace workspace;
        std::mt19937 random(11);
        for (int i = 0; i < 20; ++i) {
            const Instance instance(random, 1, 6);
            const JobSet set = withTransfers(instance.set, draw(random, 1, 3), draw(random, 1, 3), 4);
            const auto answer =
                shardMilp(set, { .doubleBuffer = i % 2 == 0 }, { .seconds = 2, .nodes = 200 }, workspace);
            QVERIFY(answer);
            QVERIFY(answer->hasTransfers);
            QVERIFY(answer->makespan <= answer->lrtf && answer->bound <= answer->makespan);
            QCOMPARE(QString::fromStdString(fault(set, *answer)), QString());
        }
    }

    void pinnedJobsStayWhereTheyAre()
    {
        SimulationWorkspace workspace; // on two GPUs 5 s, were they not all pinned to the first: 10 s
        JobSet set = equalGpus(2, std::vector<Model>(5, { { 1, 1 }, 1 }));
        for (JobSpec &spec : set.jobs)
            spec.gpus = { 0 };
        QVERIFY(std::abs(shardMilp(set, {}, {}, workspace)->makespan - 10) < 1e-6);
        for (std::size_t i = 0; i < 3; ++i)
            set.jobs[i].gpus.clear(); // two remain there
        const auto answer = shardMilp(set, {}, {}, workspace);
        QVERIFY(std::abs(answer->makespan - 5) < 1e-6);
        QCOMPARE(QString::fromStdString(fault(set, *answer)), QString());
    }

    void jobsThatNeverRunAreLeftOut()
    {
        SimulationWorkspace workspace;
        JobSet set = equalGpus(2, { { { 2 }, 1 }, { { 3 }, 1 }, { { 4 }, 1 } });
        set.jobs[2].hostBytes = 10;
        set.nodes[0].memory = 5;
        QVERIFY(std::abs(shardMilp(set, {}, {}, workspace)->makespan - 3) < 1e-6);
        set.jobs.erase(set.jobs.begin(), set.jobs.begin() + 2);
        QCOMPARE(shardMilp(set, {}, {}, workspace)->makespan, 0.0);
    }

    void withoutASolverTheErrorNamesItsPackage()
    {
        SimulationWorkspace workspace; // 2, 2, 3 in one unit each way round on two GPUs; longest first is 4, LRTF's
        std::mt19937 random(18);
        for (int i = 0; i < 100; ++i) {
            const Instance instance(random, 1, 8);
            if (shardMilp(instance.set, {}, {}, workspace)->searches == 0)
                continue;
            const auto answer = shardMilp(instance.set, {}, { .program = "/nowhere/cbc" }, workspace);
            QCOMPARE(answer.error().code, ErrorCode::CannotRead);
            QVERIFY(answer.error().right.find("coinor-cbc") != std::string::npos);
            return;
        }
        QFAIL("none needed a solver");
    }

    void itStopsWhenItIsTold()
    {
        SimulationWorkspace workspace;
        std::stop_source source;
        source.request_stop();
        std::mt19937 random(18);
        const Instance instance(random, 1, 8);
        QCOMPARE(shardMilp(instance.set, {}, {}, workspace, source.get_token()).error().code, ErrorCode::Cancelled);
    }
};

TRAINYARD_APPLESS_TEST(TestShardMilp)
#include "tst_shard_milp.moc"
