// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/memory_fit/fit.h"
#include "tests/support/test_program.h"

#include "core/facts/plan/plan_diff.h"
#include "core/iteration/placement/resolve.h"
#include "tests/core/evaluation/memory_fit/ladder_plans.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;
using test::evaluated;
using test::fullest;
using test::oneNode;
using test::with;

namespace {

EvaluationWorkspace &scratch()
{
    static EvaluationWorkspace workspace;
    return workspace;
}

Fitting fitted(const Plan &plan)
{
    EvaluationWorkspace workspace;
    return fitModel(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace);
}

bool fits(const Plan &plan)
{
    return footprint(std::make_shared<const Plan>(plan), builtinCatalogue(), scratch()).fits;
}

bool hasRoom(const Plan &plan)
{
    return footprint(std::make_shared<const Plan>(plan), builtinCatalogue(), scratch()).hasRoom();
}

Fitting fittedMemory(const Plan &plan)
{
    return fitMemory(std::make_shared<const Plan>(plan), builtinCatalogue());
}

/// Nodes of eight A100 of 40 GB with 1 TiB of main memory and drives.
Plan smallGpus(const std::string &model, int nodes, int tensor)
{
    Plan plan = oneNode(model, "a100-sxm-40gb");
    Pool &pool = plan.cluster.datacenters[0].pools[0];
    pool.nodes = nodes;
    pool.host->memoryGib = 1024;
    plan.workload.globalBatch = 64;
    plan.parallelism.tensor = tensor;
    return plan;
}

/// The plan on GPUs whose memory it fills to the share.
Plan filledTo(Plan plan, double share)
{
    GpuSpec gpu = *builtinCatalogue().gpu(plan.cluster.datacenters[0].pools[0].gpu);
    gpu.memoryBytes = std::int64_t(double(fullest(evaluated(plan)).device) / share);
    plan.cluster.datacenters[0].pools[0].inlineGpu = gpu;
    return plan;
}

/// Every combination of the switches that keep the shape of the parallelism and the numerics.
bool anyFits(const Plan &plan)
{
    for (const int zero : { 0, 1, 2, 3 }) {
        for (const Recompute recompute : { Recompute::None, Recompute::Full }) {
            for (const int microBatch : { plan.workload.microBatch, 1 }) {
                for (const OptimizerOffload offload : { OptimizerOffload::None, OptimizerOffload::Host }) {
                    for (const ParameterOffload parameters : { ParameterOffload::None, ParameterOffload::Host }) {
                        if (fits(with(plan, [=](Plan &p) {
                                p.parallelism.zeroStage = std::max(zero, p.parallelism.zeroStage);
                                p.memory.recompute = recompute;
                                p.workload.microBatch = microBatch;
                                p.memory.optimizerOffload = offload;
                                p.memory.parameterOffload = parameters;
                            })))
                            return true;
                    }
                }
            }
        }
    }
    return false;
}

} // namespace

class FitTest : public QObject {
    Q_OBJECT
private slots:
    void aPlanThatFitsStaysAsItIs()
    {
        const Plan plan = with(oneNode(), [](Plan &p) { p.memory.recompute = Recompute::Full; });
        const Fitting fitting = fitted(plan);
        QVERIFY(fitting.fits);
        QVERIFY(fitting.steps.empty());
        QCOMPARE(*fitting.plan, plan);
    }

    /// Whenever the space of switches has a plan that fits, the climb finds one.
    void itFitsWheneverSomeCombinationDoes()
    {
        int found = 0, hopeless = 0;
        for (const char *model : { "llama-3-8b", "llama-3-70b", "llama-3.1-405b" }) {
            for (const char *gpu : { "v100-sxm-16gb", "a100-sxm-40gb", "h100-sxm-80gb" }) {
                for (const int microBatch : { 1, 4 }) {
                    Plan plan = oneNode(model, gpu);
                    plan.workload.microBatch = microBatch;
                    plan.parallelism.zeroStage = 0;
                    const Fitting fitting = fitMemory(std::make_shared<const Plan>(plan), builtinCatalogue());
                    const bool canFit = anyFits(plan);
                    QVERIFY2(!canFit || fitting.fits, (std::string(model) + " on " + gpu).c_str());
                    QCOMPARE(fitting.fits, fits(*fitting.plan));
                    found += fitting.fits;
                    hopeless += !fitting.fits;
                }
            }
        }
        QVERIFY(found > 5);
    }

    /// Each step lowers what the fullest GPU holds, and its plan builds on the one before.
    void everyStepFreesMemoryAndSaysWhatItCosts()
    {
        Plan plan = oneNode("llama-3-70b");
        plan.parallelism.zeroStage = 0;
        const Fitting fitting = fitted(plan);
        QVERIFY(fitting.fits);
        QVERIFY(!fitting.steps.empty());
        std::int64_t last = fitting.before.device;
        for (const LadderStep &step : fitting.steps) {
            qInfo("%s", step.sentence.c_str());
            QVERIFY(step.device < last);
            QCOMPARE(step.freed, last - step.device);
            QVERIFY(step.sentence.find("frees") != std::string::npos);
            QVERIFY(!step.changes.empty());
            for (const std::string &change : step.changes)
                QVERIFY2(step.sentence.find(change) != std::string::npos, change.c_str());
            QVERIFY(step.iterationTime && *step.iterationTime > 0);
            last = step.device;
        }
        QVERIFY(evaluated(*fitting.plan)->feasible());
        QCOMPARE(*fitting.plan, *fitting.steps.back().plan);
    }

    /// A saving alone never raises what the fullest of eight replicas holds; one that computes more never takes less
    /// time.
    void noRungRaisesMemoryAndMoreComputeIsNeverFaster()
    {
        const Catalogue &catalogue = builtinCatalogue();
        for (const char *model : { "llama-3-8b", "gpt-3-13b", "mixtral-8x7b" }) {
            for (const char *stack : { "megatron-core", "megatron-lm-2021", "megatron-deepspeed" }) {
                Plan plan = oneNode(model);
                plan.workload.microBatch = 2;
                plan.parallelism.zeroStage = 0;
                plan.stack.name = stack;
                const auto before = footprint(std::make_shared<const Plan>(plan), catalogue, scratch());
                const double time = *evaluated(plan)->metrics.iterationTime;
                for (const MemorySaving &saving :
                    memorySavings(plan, *catalogue.model(model), *catalogue.stack(stack))) {
                    const Plan next = with(plan, saving.apply);
                    const auto after = footprint(std::make_shared<const Plan>(next), catalogue, scratch());
                    QVERIFY2(!after.isPlaced || after.device <= before.device,
                        (saving.id + " for " + model + " on " + stack).c_str());
                    if (after.isPlaced && saving.cost == SavingCost::Compute)
                        QVERIFY2(*evaluated(next)->metrics.iterationTime >= time,
                            (saving.id + " for " + model + " on " + stack).c_str());
                }
            }
        }
    }

    /// What the ladder says fits, the evaluation calls feasible: host memory and all.
    void whatFitsIsFeasible()
    {
        int found = 0;
        for (const char *model : { "llama-2-70b", "llama-3.1-405b", "gpt-3-175b" }) {
            for (const int nodes : { 1, 4 }) {
                for (const int tensor : { 1, 8 }) {
                    const Fitting fitting = fittedMemory(smallGpus(model, nodes, tensor));
                    const auto after = evaluated(*fitting.plan);
                    QVERIFY2(!fitting.fits || after->feasible(), fitting.summary.c_str());
                    QCOMPARE(fitting.fits && !fitting.isTight, fitting.after.hasRoom());
                    if (fitting.fits && !fitting.isTight)
                        QVERIFY(double(fullest(after).device) <= kSafeFill * double(fullest(after).capacity));
                    found += fitting.fits;
                }
            }
        }
        QVERIFY(found > 4);
    }

    /// 70 billion parameters take 12 to 16 bytes x 1.5 of host memory: more than one node of 1 TiB has, less than its
    /// drives.
    void whatOverflowsTheNodesGoesToDrives()
    {
        const Plan plan = smallGpus("llama-2-70b", 1, 8);
        const Fitting fitting = fittedMemory(plan);
        QVERIFY2(fitting.fits, fitting.summary.c_str());
        QVERIFY(
            std::ranges::any_of(fitting.steps, [](const LadderStep &step) { return step.id.ends_with("-drives"); }));
        QCOMPARE(fitting.plan->memory.optimizerOffload, OptimizerOffload::Ssd);
    }

    /// Without drives nothing helps, and the summary names what comes nearest.
    void whatCannotFitSaysWhatIsClosest()
    {
        Plan plan = smallGpus("llama-2-70b", 1, 8);
        plan.cluster.datacenters[0].pools[0].ssd.reset();
        plan.cluster.datacenters[0].pools[0].host->memoryGib = 1024;
        const Fitting fitting = fitted(plan);
        QVERIFY(!fitting.fits && !evaluated(*fitting.plan)->feasible());
        QVERIFY(!fitting.steps.empty());
        QVERIFY(fitting.after.need() < fitting.before.need());
        QVERIFY2(fitting.summary.starts_with("No step of the ladder makes the plan fit. Closest, after "),
            fitting.summary.c_str());
        QVERIFY2(
            fitting.summary.find("of 1.10 TB of host memory per node") != std::string::npos, fitting.summary.c_str());
        plan.cluster.datacenters[0].pools[0].host->memoryGib = 4096;
        QVERIFY(fitted(plan).fits);
    }

    /// A plan that fits, but fuller than 95 %, is taken below it.
    void littleHeadroomIsNotEnough()
    {
        const Plan roomy = with(oneNode("gpt-3-13b"), [](Plan &p) { p.parallelism.tensor = 8; });
        const Fitting fitting = fitted(filledTo(roomy, 0.97));
        QVERIFY(fitting.before.fits && !fitting.before.hasRoom());
        QVERIFY(fitting.fits && !fitting.isTight && !fitting.steps.empty());
        QVERIFY(fitting.after.hasRoom());
        QVERIFY2(fitting.summary.find("% headroom") != std::string::npos, fitting.summary.c_str());
    }

    /// Where every step has been taken, little headroom is said to be left.
    void whereOnlyLittleHeadroomIsReachedItSaysSo()
    {
        Plan plan = oneNode("llama-3-8b");
        plan.cluster.datacenters[0].pools[0].ssd.reset();
        plan.parallelism.zeroStage = 0;
        plan.parallelism.tensor = 8;
        plan = *fittedMemory(filledTo(plan, 100)).plan; // the end of the ladder
        const Fitting fitting = fitted(filledTo(plan, 0.98));
        QVERIFY(fitting.fits && fitting.isTight);
        QVERIFY2(fitting.summary.find("out of memory is likely") != std::string::npos, fitting.summary.c_str());
    }

    /// A step that sets more than its name says lists all of it.
    void aStepListsEveryKeyThatItSets()
    {
        Plan plan = smallGpus("llama-2-70b", 1, 8);
        plan.cluster.datacenters[0].pools[0].host->memoryGib = 8192;
        plan.cluster.datacenters[0].pools[0].ssd.reset();
        const auto workload = resolve(std::make_shared<const Plan>(plan), builtinCatalogue());
        const auto all = memorySavings(plan, workload->model, workload->stack);
        const auto saving = std::ranges::find(all, std::string("parameters-host"), &MemorySaving::id);
        QVERIFY(saving != all.end());
        const auto changes = describeDifferences(plan, with(plan, saving->apply));
        QCOMPARE(changes.size(), std::size_t(3)); // parameters, states, and the stage of ZeRO
        const Fitting fitting = fittedMemory(plan);
        for (std::size_t i = 0; i < fitting.steps.size(); ++i)
            QCOMPARE(fitting.steps[i].changes,
                describeDifferences(i == 0 ? plan : *fitting.steps[i - 1].plan, *fitting.steps[i].plan));
    }

    /// No step but the free ones can be left out.
    void noStepIsNeedless()
    {
        Plan plan = oneNode("llama-3-70b");
        plan.parallelism.zeroStage = 0;
        const Fitting fitting = fitted(plan);
        const Catalogue &catalogue = builtinCatalogue();
        const auto all = memorySavings(plan, *catalogue.model("llama-3-70b"), *catalogue.stack("megatron-core"));
        for (const LadderStep &without : fitting.steps) {
            Plan next = plan;
            bool isFree = false;
            for (const LadderStep &step : fitting.steps) {
                const auto saving = std::ranges::find(all, step.id, &MemorySaving::id);
                QVERIFY(saving != all.end());
                if (step.id == without.id)
                    isFree = saving->cost == SavingCost::Nothing;
                else
                    saving->apply(next);
            }
            QVERIFY2(isFree || !(fitting.isTight ? fits(next) : hasRoom(next)), without.id.c_str());
        }
    }

    void itStopsWhenAsked()
    {
        std::stop_source stop;
        stop.request_stop();
        EvaluationWorkspace workspace;
        const Fitting fitting = fitModel(
            std::make_shared<const Plan>(oneNode("llama-3.1-405b")), builtinCatalogue(), workspace, stop.get_token());
        QVERIFY(fitting.isCancelled);
        QVERIFY(!fitting.fits);
    }
};

TRAINYARD_APPLESS_TEST(FitTest)
#include "tst_fit.moc"
