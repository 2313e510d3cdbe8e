// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ladder/fit.h"

#include "tests/core/ladder/ladder_plans.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;
using test::evaluated;
using test::oneNode;
using test::with;

namespace {

Fitting fitted(const Plan &plan)
{
    EvaluationWorkspace workspace;
    return fitModel(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace);
}

bool fits(const Plan &plan)
{
    return footprint(std::make_shared<const Plan>(plan), builtinCatalogue()).fits;
}

/// Every combination of the switches that keep the shape of the parallelism and the numerics.
bool anyFits(const Plan &plan)
{
    for (const int zero : {0, 1, 2, 3}) {
        for (const Recompute recompute : {Recompute::None, Recompute::Full}) {
            for (const int microBatch : {plan.workload.microBatch, 1}) {
                for (const OptimizerOffload offload : {OptimizerOffload::None, OptimizerOffload::Host}) {
                    for (const ParameterOffload parameters : {ParameterOffload::None, ParameterOffload::Host}) {
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
        for (const char *model : {"llama-3-8b", "llama-3-70b", "llama-3.1-405b"}) {
            for (const char *gpu : {"v100-sxm-16gb", "a100-sxm-40gb", "h100-sxm-80gb"}) {
                for (const int microBatch : {1, 4}) {
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
            QVERIFY(step.iterationTime && *step.iterationTime > 0);
            last = step.device;
        }
        QVERIFY(evaluated(*fitting.plan)->feasible());
        QCOMPARE(*fitting.plan, *fitting.steps.back().plan);
    }

    /// A rung alone never raises what the fullest of eight replicas holds; one that computes more never takes less time.
    void noRungRaisesMemoryAndMoreComputeIsNeverFaster()
    {
        const Catalogue &catalogue = builtinCatalogue();
        for (const char *model : {"llama-3-8b", "gpt-3-13b", "mixtral-8x7b"}) {
            for (const char *stack : {"megatron-core", "megatron-lm-2021", "megatron-deepspeed"}) {
                Plan plan = oneNode(model);
                plan.workload.microBatch = 2;
                plan.parallelism.zeroStage = 0;
                plan.stack.name = stack;
                const auto before = footprint(std::make_shared<const Plan>(plan), catalogue);
                const double time = *evaluated(plan)->metrics.iterationTime;
                for (const Rung &rung : rungs(plan, *catalogue.model(model), *catalogue.stack(stack))) {
                    const Plan next = with(plan, rung.apply);
                    const auto after = footprint(std::make_shared<const Plan>(next), catalogue);
                    QVERIFY2(!after.isSeated || after.device <= before.device, (rung.id + " for " + model + " on " + stack).c_str());
                    if (after.isSeated && rung.cost == RungCost::Compute)
                        QVERIFY2(*evaluated(next)->metrics.iterationTime >= time, (rung.id + " for " + model + " on " + stack).c_str());
                }
            }
        }
    }

    /// No step but the free ones can be left out.
    void noStepIsNeedless()
    {
        Plan plan = oneNode("llama-3-70b");
        plan.parallelism.zeroStage = 0;
        const Fitting fitting = fitted(plan);
        const Catalogue &catalogue = builtinCatalogue();
        const auto all = rungs(plan, *catalogue.model("llama-3-70b"), *catalogue.stack("megatron-core"));
        for (const LadderStep &without : fitting.steps) {
            Plan next = plan;
            bool isFree = false;
            for (const LadderStep &step : fitting.steps) {
                const auto rung = std::ranges::find(all, step.id, &Rung::id);
                QVERIFY(rung != all.end());
                if (step.id == without.id)
                    isFree = rung->cost == RungCost::Nothing;
                else
                    rung->apply(next);
            }
            QVERIFY2(isFree || !fits(next), without.id.c_str());
        }
    }

    void itStopsWhenAsked()
    {
        std::stop_source stop;
        stop.request_stop();
        EvaluationWorkspace workspace;
        const Fitting fitting = fitModel(std::make_shared<const Plan>(oneNode("llama-3.1-405b")), builtinCatalogue(), workspace, stop.get_token());
        QVERIFY(fitting.isCancelled);
        QVERIFY(!fitting.fits);
    }
};

QTEST_APPLESS_MAIN(FitTest)
#include "tst_fit.moc"
