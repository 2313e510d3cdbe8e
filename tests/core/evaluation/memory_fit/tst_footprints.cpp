// SPDX-License-Identifier: GPL-3.0-or-later
// Searches over plans end after a number of simulated tasks, or when they are told to, and say so.
#include "core/evaluation/advice/fix_search.h"
#include "core/evaluation/evaluate/run_cache.h"
#include "core/evaluation/memory_fit/fit.h"
#include "core/iteration/iteration_costs/task_count.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/placement/place.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include "tests/support/plans.h"
#include "tests/support/workloads.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

PlanPtr shared(Plan plan)
{
    return std::make_shared<const Plan>(std::move(plan));
}

std::int64_t tasksOf(const PlanPtr &plan)
{
    const Workload workload = test::placedWorkload(*plan, candidateModes(*plan).front());
    return simulatedTasks(workload);
}

} // namespace

class TestFootprints : public QObject {
    Q_OBJECT

private slots:
    void tasksAreAtLeastTheSpansOfTheTimeline();
    void aPlanOfMoreTasksThanAreLeftIsLeftOut();
    void eachPlanIsCountedOnce();
    void aStoppedSearchFindsNothing();
    void aPlanOfTooManyOffloadedModulesIsRefusedBeforeItIsMade();
    void fixesAreLookedForInSoManyTasksAndThatIsSaid();
    void theStepsOfTheLadderDoNotChangeWithTheBoundWhereItIsNotMet();
};

void TestFootprints::tasksAreAtLeastTheSpansOfTheTimeline()
{
    for (const char *name : { "gpt3-offload-a100-40gb", "ssdtrain-bert-2xa100", "llama-3-70b-three-regions",
             "megatron-1t-3072-a100", "gpt3-175b-1024-a100" }) {
        const PlanPtr plan = shared(samplePlan(name));
        const auto evaluation = evaluated(*plan);
        // Each stage and class ends with a handful of tasks of its own.
        const double tail = 8.0 * plan->parallelism.pipeline * double(evaluation->layout.classes.size());
        const double spans = double(evaluation->metrics.spans), tasks = double(tasksOf(plan));
        QVERIFY2(tasks + tail >= spans,
            (std::string(name) + ": " + std::to_string(tasks) + " for " + std::to_string(spans)).c_str());
        QVERIFY2(tasks <= 3 * spans + 1000,
            (std::string(name) + ": " + std::to_string(tasks) + " for " + std::to_string(spans)).c_str());
    }
}

void TestFootprints::aPlanOfMoreTasksThanAreLeftIsLeftOut()
{
    const PlanPtr plan = shared(oneSite(8));
    const std::int64_t tasks = tasksOf(plan);
    Footprints enough(builtinCatalogue(), tasks), few(builtinCatalogue(), tasks - 1);
    QVERIFY(enough.of(plan).isPlaced);
    QVERIFY(!enough.isCut());
    QVERIFY(!few.of(plan).isPlaced);
    QVERIFY(few.isCut());
}

void TestFootprints::eachPlanIsCountedOnce()
{
    const PlanPtr plan = shared(oneSite(8));
    Footprints footprints(builtinCatalogue(), tasksOf(plan));
    const Footprint first = footprints.of(plan), again = footprints.of(shared(oneSite(8)));
    QVERIFY(again.isPlaced && again.device == first.device);
    QVERIFY(!footprints.isCut());
}

void TestFootprints::aStoppedSearchFindsNothing()
{
    std::stop_source stop;
    stop.request_stop();
    Footprints footprints(builtinCatalogue(), kMostFixTasks, stop.get_token());
    QVERIFY(!footprints.of(shared(oneSite(8))).isPlaced);
    Plan large = samplePlan("gpt3-offload-a100-40gb");
    large.memory.activationOffload = ActivationOffload::None;
    const Fitting fitting = fitMemory(shared(large), footprints);
    QVERIFY(fitting.isCancelled && fitting.steps.empty());
}

void TestFootprints::aPlanOfTooManyOffloadedModulesIsRefusedBeforeItIsMade()
{
    Plan plan = samplePlan("gpt3-offload-a100-40gb");
    plan.workload.globalBatch = 1'000'000;
    const auto evaluation = evaluated(plan);
    QVERIFY(!evaluation->feasible());
    QVERIFY2(evaluation->problems.front().text.find("too many to simulate") != std::string::npos,
        evaluation->problems.front().text.c_str());
    QVERIFY2(evaluation->problems.front().text.find(taskCountText(kMostTasks)) != std::string::npos,
        evaluation->problems.front().text.c_str());
}

void TestFootprints::fixesAreLookedForInSoManyTasksAndThatIsSaid()
{
    Plan plan = samplePlan("megatron-1t-3072-a100");
    plan.workload.sequenceLength = 20480;
    plan.workload.globalBatch = 3072 * 8;
    const auto evaluation = evaluated(plan);
    QVERIFY(!evaluation->feasible());
    const std::string &text = evaluation->problems.front().text;
    const std::string said =
        "Fixes were looked for in plans of " + taskCountText(kMostFixTasks) + " simulated tasks together";
    QVERIFY2(text.find(said) != std::string::npos, text.c_str());
    RunCache cache; // who does not have them looked for is not told, though a deeper answer is known
    EvaluationWorkspace workspace;
    const RunContext context { .catalogue = builtinCatalogue(), .workspace = workspace, .cache = &cache };
    cache.keep(Depth::Everything, context, evaluation);
    const auto score = run(evaluation->plan, Depth::Score, context);
    QVERIFY(score);
    const std::string &alone = (*score)->problems.front().text;
    QVERIFY2(text.starts_with(alone) && alone.find(said) == std::string::npos, alone.c_str());
}

void TestFootprints::theStepsOfTheLadderDoNotChangeWithTheBoundWhereItIsNotMet()
{
    Plan plan = samplePlan("gpt3-offload-a100-40gb");
    plan.memory.activationOffload = ActivationOffload::None;
    FixSearch search(builtinCatalogue(), {});
    const Fitting bounded = fitMemory(shared(plan), search.footprints()),
                  unbounded = fitMemory(shared(plan), builtinCatalogue());
    QVERIFY(unbounded.fits && !unbounded.isCut);
    QVERIFY(search.whatWasLeftOut().empty());
    QCOMPARE(*bounded.plan, *unbounded.plan);
}

TRAINYARD_APPLESS_TEST(TestFootprints)
#include "tst_footprints.moc"
