// SPDX-License-Identifier: GPL-3.0-or-later
// Better hardware under a plan that stays as it is: where the order of work is fixed, nothing gets slower, and what
// fits still fits.
#include "tests/core/evaluation/evaluate/random_valid_plans.h"
#include "tests/support/test_program.h"

#include "core/engine/schedule/traits.h"
#include "core/facts/plan/plan_io.h"

#include <QtTest>

#include <functional>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Every GPU spelled out, so that it can be made faster; nothing left to choose by time but the order of the work.
std::optional<Plan> pinned(unsigned seed)
{
    Plan plan = RandomValidPlan(seed).plan();
    if (traitsOf(plan.schedule).orderedBy() != OrderedBy::Shape)
        return {};
    plan.memory.activationOffload = ActivationOffload::None; // how much leaves depends on times
    plan.memory.offloadExpertInput = false; // what a backward needs before it has left stays
    plan.bubbleFill.enabled = false;
    plan.wan.sharing = WanSharing::Spatial; // turns are taken as transfers come
    EvaluationWorkspace workspace;
    for (Datacenter &datacenter : plan.cluster.datacenters)
        for (Pool &pool : datacenter.pools) {
            pool.inlineGpu = *builtinCatalogue().gpu(pool.gpu);
            pool.gpu.clear();
        }
    const auto now = evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace, {}, Depth::Score);
    if (!now || !(*now)->metrics.iterationTime)
        return {};
    const Layout &layout = (*now)->layout;
    plan.parallelism.data = layout.data;
    plan.placement.mode = layout.mode;
    if (layout.mode == PlacementMode::PipelineAcross) {
        plan.placement.stages.clear();
        for (const StageLocation location : layout.classes.front().locations) {
            const std::string &id = plan.cluster.datacenters[std::size_t(location.datacenter)].id;
            if (plan.placement.stages.empty() || plan.placement.stages.back().datacenter != id)
                plan.placement.stages.push_back({ id, 0, {} });
            ++plan.placement.stages.back().stages;
        }
    }
    return plan;
}

template <class Change> void eachPool(Plan &plan, Change change)
{
    for (Datacenter &datacenter : plan.cluster.datacenters)
        for (Pool &pool : datacenter.pools)
            change(datacenter, pool);
}

struct Better {
    const char *name;
    std::function<void(Plan &)> apply;
    bool ofGpus = false;
};

/// Of what is known to be reversed at times, the most.
constexpr double kMostOfKnown = 1.05;

/// Transfers that share a link meet others where they come earlier, and fair shares may then delay the one that counts.
bool sharesLinks(const Plan &plan)
{
    return !plan.cluster.wanLinks.empty();
}

/// Exchanges of tensor parallelism and of sharded weights are both hidden behind the same operations, and so are moves
/// of offloaded weights with either or with gradients: shorter operations may show more of the two than they save.
bool hidesTwice(const Plan &plan)
{
    return plan.memory.parameterOffload != ParameterOffload::None
        || (plan.parallelism.tensor > 1 && plan.parallelism.zeroStage >= 3);
}

const std::vector<Better> kBetter {
    { "half the round trips",
        [](Plan &p) {
            for (WanLink &link : p.cluster.wanLinks)
                link.rttMs /= 2;
        } },
    { "links of twice the bandwidth",
        [](Plan &p) {
            for (WanLink &link : p.cluster.wanLinks)
                link.nodePairGbps *= 2, link.capacityGbps *= 2;
        } },
    { "a fabric of twice the bandwidth",
        [](Plan &p) {
            eachPool(p, [](Datacenter &site, Pool &pool) {
                pool.inlineGpu->fabricGbps *= 2;
                site.fabricMeasuredGBps.reset();
            });
            for (Datacenter &site : p.cluster.datacenters)
                if (site.fabricGbpsPerGpu)
                    *site.fabricGbpsPerGpu *= 2;
        } },
    { "GPUs 1.3 times as fast",
        [](Plan &p) {
            eachPool(p, [](Datacenter &, Pool &pool) {
                for (double &peak : pool.inlineGpu->peakTflops)
                    peak *= 1.3;
                pool.inlineGpu->memoryGBps *= 1.3;
            });
        },
        true },
};

} // namespace

class TestRandomPlansMonotone : public QObject {
    Q_OBJECT

private slots:
    void aFixedOrderIsNeverSlowerOnBetterHardware();
    void whatFitsStillFitsInMoreMemory();
};

void TestRandomPlansMonotone::aFixedOrderIsNeverSlowerOnBetterHardware()
{
    EvaluationWorkspace workspace;
    const auto seconds = [&](const Plan &plan) -> Metric {
        const auto evaluation =
            evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace, {}, Depth::Score);
        return evaluation ? (*evaluation)->metrics.iterationTime : Metric {};
    };
    std::string slower, exceptions;
    int compared = 0, known = 0;
    for (unsigned seed = 0; seed < randomPlans(); ++seed) {
        const std::optional<Plan> plan = pinned(seed);
        const Metric before = plan ? seconds(*plan) : Metric {};
        if (!before)
            continue;
        for (const Better &better : kBetter) {
            Plan next = *plan;
            better.apply(next);
            const Metric after = seconds(next);
            QVERIFY2(after, ("plan " + std::to_string(seed) + " with " + better.name + " no longer runs").c_str());
            ++compared;
            // Rounding of each operation to a nanosecond may add up to some of them.
            if (*after <= *before * (1 + 1e-6))
                continue;
            const bool isKnown =
                *after <= kMostOfKnown * *before && (sharesLinks(*plan) || (better.ofGpus && hidesTwice(*plan)));
            known += isKnown;
            (isKnown ? exceptions : slower) += "\nplan " + std::to_string(seed) + " with " + better.name + ": "
                + std::to_string(*before) + " -> " + std::to_string(*after);
        }
    }
    qInfo("%d pairs compared; %d known reversals:%s", compared, known, exceptions.c_str());
    QVERIFY2(slower.empty(), slower.c_str());
    QVERIFY2(known <= compared / 200, exceptions.c_str());
    QVERIFY(compared > 2 * int(randomPlans()) / 3);
}

void TestRandomPlansMonotone::whatFitsStillFitsInMoreMemory()
{
    EvaluationWorkspace workspace;
    int fitting = 0;
    for (unsigned seed = 0; seed < randomPlans(); seed += 3) {
        Plan plan = RandomValidPlan(seed).plan();
        eachPool(plan, [](Datacenter &, Pool &pool) {
            pool.inlineGpu = *builtinCatalogue().gpu(pool.gpu);
            pool.gpu.clear();
        });
        const auto fits = [&](const Plan &p) {
            const auto evaluation =
                evaluate(std::make_shared<const Plan>(p), builtinCatalogue(), workspace, {}, Depth::Score);
            return evaluation && (*evaluation)->metrics.memory && (*evaluation)->metrics.memory->fits;
        };
        if (!fits(plan))
            continue;
        ++fitting;
        eachPool(
            plan, [](Datacenter &, Pool &pool) { pool.inlineGpu->memoryBytes += pool.inlineGpu->memoryBytes / 2; });
        QVERIFY2(
            fits(plan), ("plan " + std::to_string(seed) + " no longer fits with half as much memory again").c_str());
    }
    QVERIFY(fitting > int(randomPlans()) / 15);
}

TRAINYARD_APPLESS_TEST(TestRandomPlansMonotone)
#include "tst_random_plans_monotone.moc"
