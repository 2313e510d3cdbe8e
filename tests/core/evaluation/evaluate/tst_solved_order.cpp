// SPDX-License-Identifier: GPL-3.0-or-later
// The order of units that a solver finds, in the evaluation of a plan.
#include "core/evaluation/evaluate/jobs/solved_order.h"
#include "core/evaluation/evaluate/run.h"
#include "tests/core/systems/jobs/job_sets.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Jobs of different models on the GPUs of one node, by that scheduler.
PlanPtr planOf(JobScheduler scheduler, int gpus, int jobs)
{
    Plan plan;
    plan.cluster.datacenters = { site("a", 1, "v100-sxm-16gb", gpus) };
    plan.cluster.datacenters[0].pools[0].host = Host { 488, 6, {} };
    plan.stack.name = "ideal";
    plan.jobScheduler = scheduler;
    plan.jobOptions.seconds = 2;
    for (int i = 0; i < jobs; ++i) {
        Job job;
        job.name = "job " + std::to_string(i);
        job.model = i % 2 == 0 ? "gpt-3-1.3b" : "gpt-3-2.7b";
        job.batch = 1 + i % 3;
        job.minibatches = 4 + i;
        job.sequenceLength = 1024;
        job.precision = Precision::Fp32;
        job.optimizer = Optimizer::Sgd;
        plan.jobs.push_back(job);
    }
    return std::make_shared<const Plan>(std::move(plan));
}

EvaluationPtr evaluated(const PlanPtr &plan)
{
    EvaluationWorkspace workspace;
    const auto answer = run(plan, Depth::Score, { builtinCatalogue(), workspace });
    return answer ? *answer : nullptr;
}

const Problem *problemOf(const Evaluation &evaluation, const std::string &words)
{
    for (const Problem &problem : evaluation.problems)
        if (problem.text.find(words) != std::string::npos)
            return &problem;
    return nullptr;
}

} // namespace

class TestSolvedOrder : public QObject {
    Q_OBJECT
private slots:
    void otherSchedulersRunByWhatThePlanSays()
    {
        Plan plan;
        plan.jobScheduler = JobScheduler::Fifo;
        plan.jobOptions = {
            .doubleBuffer = false, .lookAhead = true, .remaining = RemainingWork::Minibatches, .seed = 9
        };
        SimulationWorkspace workspace;
        std::vector<Problem> problems;
        const auto rules = rulesToRun(plan, {}, workspace, {}, problems);
        QVERIFY(rules && *rules && problems.empty());
        QVERIFY((*rules)->scheduler == JobScheduler::Fifo && !(*rules)->doubleBuffer && (*rules)->lookAhead);
        QVERIFY((*rules)->remaining == RemainingWork::Minibatches && (*rules)->seed == 9);
    }

    void aSolversOrderComesWithANoteOnHowGoodItIs()
    {
        Plan plan;
        plan.jobScheduler = JobScheduler::ShardMilp;
        plan.jobOptions.doubleBuffer = false;
        plan.jobOptions.seconds = 60;
        SimulationWorkspace workspace;
        std::vector<Problem> problems;
        JobSet set = equalGpus(3,
            { { { .1, .1, .3, .2, .2 }, 6 }, { { .2, .2, .6, .4, .4 }, 3 }, { { .05, .05, .15, .1, .1 }, 20 },
                { { .3, .5, .4 }, 5 }, { { .1, .1, .1, .3, .2, .2, .2 }, 4 } });
        set.jobs[1].priority = 1;
        const auto rules = rulesToRun(plan, set, workspace, {}, problems);
        QVERIFY(rules && *rules);
        QCOMPARE((*rules)->order.size(), std::size_t(3));
        QCOMPARE(problems.size(), std::size_t(2));
        QVERIFY(problems[0].severity == Severity::Note);
        QVERIFY(problems[0].text.starts_with("The solver's order of the units is the shortest there is: proven"));
        QVERIFY(problems[1].text.find("priorities") != std::string::npos);
    }

    void sentencesSayWhatIsProvenAndWhatIsNot()
    {
        ShardMilpAnswer answer { .makespan = 95, .lrtf = 100, .bound = 94.05, .isCutShort = true };
        QCOMPARE(solverSentence(answer, 10),
            std::string(
                "The solver's order is 5.00 % shorter than that of \"Longest remaining first\"; the solver was stopped "
                "after 10.0 s; none is more than 1.00 % shorter still"));
        answer = { .makespan = 100,
            .lrtf = 100,
            .bound = 90,
            .isLrtf = true,
            .unitsPerTask = 14,
            .grid = .5,
            .isRounded = true,
            .hasTransfers = true };
        QCOMPARE(solverSentence(answer, 10),
            std::string(
                "No order was found that is shorter than that of \"Longest remaining first\", which is run; none "
                "is more than 10.0 % shorter still (up to 14 units of a job were taken as one, times were "
                "rounded up to steps of 500 ms, transfers were reckoned into the times of units)"));
    }

    void aPlanIsNeverLongerWithASolverThanWithTheRule()
    {
        const EvaluationPtr rule = evaluated(planOf(JobScheduler::ShardedLrtf, 2, 5));
        const EvaluationPtr solved = evaluated(planOf(JobScheduler::ShardMilp, 2, 5));
        QVERIFY(rule && solved && solved->feasible());
        QVERIFY(*solved->metrics.jobs->makespan <= *rule->metrics.jobs->makespan);
        QVERIFY(*solved->metrics.jobs->makespan >= *solved->metrics.jobs->bound * (1 - 1e-9));
        const Problem *note = problemOf(*solved, "order");
        QVERIFY(note != nullptr && note->severity == Severity::Note);
        QVERIFY(problemOf(*rule, "order") == nullptr);
    }

    void withoutASolverThePlanCannotRunAndSaysWhatToInstall()
    {
        const QByteArray path = qgetenv("PATH");
        qputenv("PATH", "/nowhere");
        const EvaluationPtr solved = evaluated(planOf(JobScheduler::ShardMilp, 2, 5));
        qputenv("PATH", path);
        QVERIFY(solved && !solved->feasible());
        QVERIFY(solved->metrics.jobs && !solved->metrics.jobs->makespan);
        const Problem *problem = problemOf(*solved, "coinor-cbc");
        QVERIFY(problem != nullptr && problem->severity == Severity::Blocking);
        QCOMPARE(problem->where, std::string("job_scheduler"));
        QCOMPARE(problem->fixes.size(), std::size_t(1));
        QVERIFY(evaluated(problem->fixes[0].plan)->feasible());
    }
};

TRAINYARD_APPLESS_TEST(TestSolvedOrder)
#include "tst_solved_order.moc"
