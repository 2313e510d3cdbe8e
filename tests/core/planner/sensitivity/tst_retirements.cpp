// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/validate.h"
#include "core/planner/sensitivity/shadow_prices.h"
#include "tests/support/test_program.h"

#include "tests/support/mixed_plans.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;

namespace {

std::vector<Retirement> retired(const Plan &plan)
{
    EvaluationWorkspace workspace;
    auto list = retirements(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace);
    if (!list)
        qFatal("%s", toString(list.error().front()).c_str());
    return *std::move(list);
}

EvaluationPtr scored(const PlanPtr &plan)
{
    EvaluationWorkspace workspace;
    auto evaluation = run(plan, Depth::Score, { .catalogue = builtinCatalogue(), .workspace = workspace });
    return evaluation ? *evaluation : nullptr;
}

/// Data-parallel replicas of GPT-3 1.3B on H100s and V100s, one a GPU, with even shares: all wait for the V100s.
Plan newAndOld()
{
    Plan plan = test::oneSite(1, 1);
    plan.cluster.datacenters = { test::site("a", 0) };
    plan.cluster.datacenters[0].pools = { test::pool("new", "h100-sxm-80gb", 1),
        test::pool("old", "v100-sxm-32gb", 1) };
    plan.workload.model = "gpt-3-1.3b";
    plan.workload.sequenceLength = 2048;
    plan.workload.globalBatch = 256;
    plan.workload.precision = Precision::Fp16;
    plan.parallelism.tensor = 1;
    plan.parallelism.zeroStage = 1;
    plan.memory.recompute = Recompute::Full;
    return plan;
}

} // namespace

class TstRetirements : public QObject {
    Q_OBJECT

private slots:
    void oldGpusThatAllOthersWaitForAreTheFirstToGo()
    {
        const Plan plan = newAndOld();
        const auto own = scored(std::make_shared<const Plan>(plan));
        QVERIFY(own && own->feasible());
        const auto list = retired(plan);
        QVERIFY(!list.empty());
        const Retirement &first = list.front();
        QVERIFY2(first.sentence.contains("V100"), first.sentence.c_str());
        QVERIFY(first.isFeasible && first.saving > 0);
        // what it says is what its plan does
        const auto then = scored(first.plan);
        QCOMPARE(*then->metrics.iterationTime, first.seconds);
        QCOMPARE(*then->metrics.cost.usdPerMillionTokens, first.usdPerMillionTokens);
        QVERIFY(std::abs(first.slowdown - (*then->metrics.iterationTime / *own->metrics.iterationTime - 1)) < 1e-12);
        QVERIFY(std::abs(first.saving
                    - (1 - *then->metrics.cost.usdPerMillionTokens / *own->metrics.cost.usdPerMillionTokens))
            < 1e-12);
        // GPUs that are left = all − those that retire
        QCOMPARE(first.plan->cluster.gpus(), plan.cluster.gpus() - first.gpus);
        QVERIFY(std::ranges::is_sorted(
            list, std::greater {}, [](const Retirement &r) { return std::pair(r.isFeasible, r.saving); }));
        for (const Retirement &r : list)
            QVERIFY(validatePlan(*r.plan).empty());
    }

    void nobodyRetiresByAPlanThatIsNotUnderstood()
    {
        Plan plan = newAndOld();
        QVERIFY(!retired(plan).empty());
        plan.notUnderstood = { { .key = "--zebra", .text = "is 4, which no plan takes", .low = -0.5, .high = 1 } };
        QVERIFY(retired(plan).empty());
    }

    void idleNodesCostAndChangeNoTime()
    {
        const auto list = retired(test::oneSite(5, 4)); // replicas of 4 nodes
        QCOMPARE(list.size(), std::size_t(1));
        QCOMPARE(list[0].gpus, 8);
        QVERIFY2(list[0].sentence.contains("the 8 idle H100"), list[0].sentence.c_str());
        QCOMPARE(list[0].slowdown, 0.0);
        // USD per token are the same with 4 of 5 nodes: a fifth less
        QVERIFY(std::abs(list[0].saving - 0.2) < 1e-9);
    }

    void aDatacenterThatStandsEmptyTakesItsPinsWithIt()
    {
        Plan plan = test::oneSite(1, 2);
        plan.cluster.datacenters = { test::site("a", 1), test::site("b", 1, "a100-sxm-80gb") };
        plan.cluster.wanLinks = { test::wanLink("a", "b") };
        plan.placement.stages = { { .datacenter = "a", .stages = 1 }, { .datacenter = "b", .stages = 1 } };
        plan.heterogeneity.assign = {};
        for (const Retirement &r : retired(plan)) {
            QVERIFY(validatePlan(*r.plan).empty());
            if (r.plan->cluster.datacenters.size() == 1)
                QVERIFY(r.plan->placement.stages.empty() && r.plan->cluster.wanLinks.empty());
            if (!r.isFeasible)
                QVERIFY2(r.sentence.contains("cannot run without them"), r.sentence.c_str());
        }
    }

    void equalGpusThatAllWorkAreNotRetired() { QVERIFY(retired(test::oneSite(4)).empty()); }
};

TRAINYARD_GUILESS_TEST(TstRetirements)
#include "tst_retirements.moc"
