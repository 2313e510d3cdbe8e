// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/plan_io.h"
#include "core/planner/sensitivity/shadow_prices.h"
#include "tests/support/test_program.h"
#include "tests/support/trials.h"

#include "core/facts/cluster/edits.h"

#include "tests/core/evaluation/evaluate/random_valid_plans.h"
#include "tests/support/plans.h"

#include <QDir>
#include <QTest>

#include <algorithm>
#include <cmath>

using namespace trainyard;

namespace {

ShadowPrices priced(const Plan &plan, double step = 0.1, Objective objective = Objective::Throughput)
{
    EvaluationWorkspace workspace;
    auto prices = shadowPrices(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace, objective, step);
    if (!prices)
        qFatal("%s", toString(prices.error().front()).c_str());
    return *std::move(prices);
}

const ShadowPrice *find(const ShadowPrices &prices, const std::string &id)
{
    const auto found = std::ranges::find(prices.list, id, &ShadowPrice::id);
    return found == prices.list.end() ? nullptr : &*found;
}

EvaluationPtr scored(const Plan &plan)
{
    EvaluationWorkspace workspace;
    auto evaluation = run(
        std::make_shared<const Plan>(plan), Depth::Score, { .catalogue = builtinCatalogue(), .workspace = workspace });
    return evaluation ? *evaluation : nullptr;
}

double seconds(const Plan &plan)
{
    const auto evaluation = scored(plan);
    return evaluation ? evaluation->metrics.iterationTime.value_or(-1) : -1;
}

bool areNear(double a, double b, double relative = 1e-6)
{
    return std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b));
}

std::vector<Plan> samples()
{
    std::vector<Plan> plans;
    const QDir folder(QStringLiteral(TRAINYARD_SOURCE_DIR "/samples"));
    for (const QString &name : folder.entryList({ QStringLiteral("*.trainyard.json") }))
        if (auto plan = readPlan(folder.filePath(name).toStdString()); plan && !hasJobs(*plan))
            plans.push_back(*std::move(plan));
    return plans;
}

/// Two stages in two datacenters, one micro-batch: nothing overlaps.
Plan oneBatchAcross()
{
    Plan plan = test::atlasRow(2, 1, 1, 2, ScheduleKind::GPipe);
    plan.cluster.wanLinks[0].capacityGbps = 1000;
    return plan;
}

bool isMentioned(const std::vector<std::string> &sentences, const char *part)
{
    return std::ranges::any_of(sentences, [&](const std::string &text) { return text.contains(part); });
}

} // namespace

class TstShadowPrices : public QObject {
    Q_OBJECT

private slots:
    void aPipelineThatOverlapsNothingHasPricesInClosedForm()
    {
        // T = 2 (f + b) + r + 2 (S / w + RTT / 2): two stages take turns, activation and gradient travel alone, and the
        // first recomputes while it waits. S / w as atlasRow has it: 1.0117 s; RTT 0.40692 s.
        const ShadowPrices prices = priced(oneBatchAcross());
        const double compute = 2 * (1 + 2.0371) + 1.0193, total = compute + 2 * (1.0117 + 0.40692 / 2);
        QVERIFY(areNear(*prices.now->metrics.iterationTime, total));
        const auto expect = [&](const char *id, double saved) {
            const ShadowPrice *price = find(prices, id);
            QVERIFY2(price, id);
            QVERIFY2(areNear(price->secondsSaved, saved), std::to_string(price->secondsSaved).c_str());
            QVERIFY(areNear(price->gain, saved / total));
            QVERIFY(areNear(price->gainPerUnit, saved / total / std::abs(price->amount)));
        };
        // a tenth more of w: 2 S / w (1 − 1 / 1.1)
        expect("link:a-b:pair", 2 * 1.0117 * (1 - 1 / 1.1));
        // a tenth less of the round trip: 2 · 0.1 RTT / 2
        expect("link:a-b:rtt", 0.1 * 0.40692);
        // all stage times ÷ 1.1
        expect("profile:speed", compute * (1 - 1 / 1.1));
        QCOMPARE(find(prices, "link:a-b:capacity")->gain, 0.0); // 1000 Gbit/s for a node pair of 5
        QCOMPARE(find(prices, "link:a-b:rtt")->amount, -40.692);
        QCOMPARE(find(prices, "link:a-b:rtt")->unit, std::string("ms"));
        // with as much less: S / (0.9 w)
        QVERIFY(areNear(*find(prices, "link:a-b:pair")->lossOfLess, 2 * 1.0117 * (1 / 0.9 - 1) / total));
        QVERIFY(!find(prices, "link:a-b:pair")->isKink());
    }

    void elasticitiesAreSharesOfTheIteration()
    {
        // T = a / x + c: d ln T / d ln x = −(a / x) / T, for small steps
        const ShadowPrices prices = priced(oneBatchAcross(), 1e-4);
        const double compute = 2 * (1 + 2.0371) + 1.0193, transfer = 2 * 1.0117, latency = 0.40692;
        const double total = compute + transfer + latency;
        QVERIFY(std::abs(find(prices, "profile:speed")->elasticity() - compute / total) < 1e-3);
        QVERIFY(std::abs(find(prices, "link:a-b:pair")->elasticity() - transfer / total) < 1e-3);
        QVERIFY(std::abs(find(prices, "link:a-b:rtt")->elasticity() - latency / total) < 1e-3);
    }

    void ofAComputeBoundPlanFlopsAndMemorySpeedShareTheComputeShare()
    {
        Plan plan = test::oneSite(1, 1); // tensor 8 on one node
        plan.parallelism.tensor = 1;
        plan.workload.microBatch = 1;
        plan.workload.sequenceLength = 2048;
        plan.memory.recompute = Recompute::Full;
        plan.parallelism.zeroStage = 1;
        plan.stack.overrides["host_us_per_kernel"] = 1; // nobody waits for the host
        const ShadowPrices prices = priced(plan, 0.01);
        const Metrics &metrics = prices.now->metrics;
        QVERIFY(prices.now->feasible());
        const double share = (metrics.breakdown->compute + metrics.breakdown->optimizer) / *metrics.iterationTime;
        QVERIFY(share > 0.6);
        // d ln T / d ln FLOPs + d ln T / d ln (bytes/s) ≈ −(share that computes): kernels wait for one of the two, but
        // for what a launch takes
        const double sum = find(prices, "gpu:h100-sxm-80gb:flops")->elasticity()
            + find(prices, "gpu:h100-sxm-80gb:hbm-speed")->elasticity();
        QVERIFY2(std::abs(sum - share) < 0.05, qPrintable(QString("%1 of %2").arg(sum).arg(share)));
        QVERIFY(isMentioned(priced(plan).binding, "Compute binds"));
    }

    void onOneGpuFasterMeansWhatTheSamePlanOfABetterGpuSays()
    {
        Plan plan = test::oneSite(1, 1);
        plan.cluster.datacenters = { test::site("a", 1, "h100-sxm-80gb", 1) };
        plan.workload.model = "gpt-3-1.3b";
        plan.workload.sequenceLength = 2048;
        plan.workload.globalBatch = 4;
        plan.parallelism.tensor = 1;
        const ShadowPrices prices = priced(plan, 0.25);
        GpuSpec better = *builtinCatalogue().gpu("h100-sxm-80gb");
        for (double &peak : better.peakTflops)
            peak *= 1.25;
        better.tdpWatts *= 1.25;
        Plan byHand = plan;
        byHand.cluster.datacenters[0].pools[0].gpu.clear();
        byHand.cluster.datacenters[0].pools[0].inlineGpu = better;
        const ShadowPrice *price = find(prices, "gpu:h100-sxm-80gb:flops");
        QVERIFY(areNear(seconds(plan) - seconds(byHand), price->secondsSaved, 1e-12));
        QCOMPARE(*price->plan, byHand);
        // T(x) = a / x + c through both points: what is left at x = 1.25 is between all and 1 / 1.25 of it
        QVERIFY(price->gain > 0 && price->gain < 0.2);
        // and the file of the plan with it says the same
        const auto read = parsePlan(formatPlan(*price->plan), "x");
        QVERIFY(read && areNear(seconds(*read), seconds(byHand), 1e-9));
    }

    void aGpuDescribedInThePlanAsTheCatalogueHasItChangesNothing()
    {
        for (const Plan &plan : samples()) {
            const double own = seconds(plan);
            for (const HardwareResource &resource : resourcesOf(plan, builtinCatalogue())) {
                Plan same = plan;
                resource.set(same, resource.now);
                QVERIFY2(seconds(same) == own, (plan.name + ": " + resource.id).c_str());
            }
        }
    }

    void moreOfAResourceNeverTakesLonger()
    {
        int checked = 0;
        for (const Plan &plan : samples()) {
            if (plan.name.find("every system on") != std::string::npos)
                continue; // orders are decided at run time there, and a slower part may be lucky
            const ShadowPrices prices = priced(plan);
            for (const ShadowPrice &price : prices.list) {
                if (!price.isFeasible || price.kind == ResourceKind::Node || price.kind == ResourceKind::NextGpu
                    || price.kind == ResourceKind::Budget)
                    continue;
                QVERIFY2(price.gain >= -1e-9, (plan.name + ": " + price.label).c_str());
                QVERIFY2(!price.lossOfLess || *price.lossOfLess >= -1e-9, (plan.name + ": " + price.label).c_str());
                ++checked;
            }
            QVERIFY(std::ranges::is_sorted(prices.list, std::greater {},
                [](const ShadowPrice &price) { return std::pair(price.isFeasible, price.gain); }));
        }
        QVERIFY(checked > 100);
    }

    void roomAloneChangesNoTimeWhereThePlanFits()
    {
        for (const Plan &plan : { test::oneSite(4), test::threeSites(2) }) {
            EvaluationWorkspace workspace;
            for (const HardwareResource &resource : resourcesOf(plan, builtinCatalogue())) {
                if (resource.kind != ResourceKind::HbmSize)
                    continue;
                Plan roomier = plan;
                resource.set(roomier, 2 * resource.now);
                QCOMPARE(seconds(roomier), seconds(plan));
            }
        }
    }

    void whereMemoryBindsMoreOfItMakesThePlanFit()
    {
        Plan plan = test::oneSite(4);
        // The model's fullest GPU needs more than there is, by less than a tenth
        const auto own = scored(plan);
        const StageMemory &fullest = own->metrics.memory->perStage[std::size_t(own->metrics.memory->fullestStage)];
        GpuSpec smaller = *builtinCatalogue().gpu("h100-sxm-80gb");
        smaller.memoryBytes = std::int64_t(double(fullest.device) * 0.95);
        plan.cluster.datacenters[0].pools[0].inlineGpu = smaller;
        plan.cluster.datacenters[0].pools[0].gpu.clear();
        QVERIFY(!scored(plan)->feasible());
        const ShadowPrices prices = priced(plan);
        const ShadowPrice *room = find(prices, "gpu:h100-sxm-80gb:hbm-size");
        QVERIFY(room && room->isFeasible);
        QVERIFY2(isMentioned(prices.binding, "Memory binds"), prices.binding.front().c_str());
        QVERIFY2(prices.binding.front().contains("it fits"), prices.binding.front().c_str());
        // as much less does not fit either: the plan stands below the kink
        QVERIFY(!room->isLessFeasible);
    }

    void roomThatAllowsAFasterPlanIsWorthWhatThatSaves()
    {
        // Full recomputation for want of a few per cent of memory
        Plan fast = test::oneSite(4, 2);
        fast.parallelism.tensor = 4;
        fast.memory.recompute = Recompute::None;
        const auto own = scored(fast);
        const StageMemory &fullest = own->metrics.memory->perStage[std::size_t(own->metrics.memory->fullestStage)];
        GpuSpec smaller = *builtinCatalogue().gpu("h100-sxm-80gb");
        smaller.memoryBytes = std::int64_t(double(fullest.device));
        Plan plan = fast;
        plan.memory.recompute = Recompute::Full;
        plan.cluster.datacenters[0].pools[0].inlineGpu = smaller;
        plan.cluster.datacenters[0].pools[0].gpu.clear();
        QVERIFY(scored(plan)->feasible());
        const ShadowPrices prices = priced(plan, 0.5);
        const ShadowPrice *room = find(prices, "gpu:h100-sxm-80gb:hbm-size");
        QVERIFY(room && room->isFeasible && room->isReplanned);
        QVERIFY(room->gain > 0);
        QVERIFY(isMentioned(prices.binding, "Memory binds"));
        QVERIFY(seconds(*room->plan) < seconds(plan));
    }

    void aNodeCostsItsGpusAndTheBudgetGoesWhereADollarBuysMost()
    {
        Plan plan = test::threeSites(2);
        plan.workload.globalBatch = 256;
        for (std::size_t d = 0; d < 3; ++d)
            plan.cluster.datacenters[d].pools[0].usdPerGpuHour = 2 + double(d);
        const ShadowPrices prices = priced(plan);
        const ShadowPrice *node = find(prices, "nodes:b:b-pool");
        QVERIFY(node && node->usdPerHour);
        QCOMPARE(*node->usdPerHour, node->amount * 8 * 3);
        double best = 0;
        for (const ShadowPrice &price : prices.list) {
            if (price.gainPerUsd)
                QVERIFY(areNear(*price.gainPerUsd, price.gain / *price.usdPerHour, 1e-12));
            if (price.isFeasible && price.kind != ResourceKind::Budget)
                best = std::max(best, price.gainPerUsd.value_or(0));
            if (price.kind == ResourceKind::NodePair || price.kind == ResourceKind::RoundTrip)
                QVERIFY(!price.usdPerHour);
        }
        const ShadowPrice *budget = find(prices, "budget");
        if (best > 0) {
            QVERIFY(budget);
            QVERIFY(areNear(budget->gainPerUnit, best));
        } else {
            QVERIFY(!budget);
        }
    }

    void aNodeMoreTrainsMoreReplicasWhereThePlanSaysHowMany()
    {
        Plan plan = test::oneSite(4, 4);
        plan.parallelism.data = 1;
        plan.workload.globalBatch = 64;
        // a replica takes 4 nodes: of 1, 2, 4 and 8 more the fewest that train another are 4
        const ShadowPrices prices = priced(plan);
        const ShadowPrice *node = find(prices, "nodes:a:a-pool");
        QVERIFY(node && node->isFeasible);
        QCOMPARE(node->amount, 4.0);
        QVERIFY(node->isReplanned);
        QVERIFY(node->gain > 0.3);
    }

    void measuredLinksAreMadeFasterToo()
    {
        Plan plan = oneBatchAcross();
        plan.calibration["m"] = R"({"what": "wan", "between": ["a", "b"], "gbytes_per_s": 0.5})";
        const ShadowPrices prices = priced(plan);
        // S / w with w = 0.5 GB/s whatever the plan states
        const double bytes = 1.0117 * 5e9 / 8;
        QVERIFY(areNear(find(prices, "link:a-b:pair")->secondsSaved, 2 * bytes / 0.5e9 * (1 - 1 / 1.1)));
    }

    void deepPipelinesAndLinksAreNamed()
    {
        const ShadowPrices prices = priced(test::atlasRow(6, 4, 4, 3, ScheduleKind::OneFOneB));
        QVERIFY(isMentioned(prices.binding, "Pipeline depth binds most: 6 stages with 4 micro-batches"));
        QVERIFY(isMentioned(prices.binding, "A link binds"));
    }

    /// The first is what holds most; what holds less than a fifth of it is not said to bind.
    void theMainOneStandsFirst()
    {
        const auto plan = readPlan(TRAINYARD_SOURCE_DIR "/samples/llama-3-70b-three-regions.trainyard.json");
        QVERIFY(plan.has_value());
        const ShadowPrices prices = priced(*plan);
        QVERIFY2(prices.binding.front().starts_with("Compute binds most"), prices.binding.front().c_str());
        QVERIFY(isMentioned(prices.binding, "Pipeline depth binds: 9 stages"));
        QVERIFY(!isMentioned(prices.binding, "A round trip binds"));
        QVERIFY(
            std::ranges::count_if(prices.binding, [](const std::string &one) { return one.contains("most: "); }) == 1);
    }

    /// Eight nodes more in Virginia let eight in Oregon idle: moving these there buys as much, for nothing.
    void nodesAreNotBoughtWhereIdleOnesCanBeMoved()
    {
        const auto plan = readPlan(TRAINYARD_SOURCE_DIR "/samples/llama-3-70b-three-regions.trainyard.json");
        QVERIFY(plan.has_value());
        const int virginia = plan->cluster.indexOf("virginia"), oregon = plan->cluster.indexOf("oregon");
        Plan moved = *plan, bought = *plan;
        moved.cluster = moveGpus(plan->cluster, oregon, 64, virginia).value();
        bought.cluster.datacenters[std::size_t(virginia)].pools[0].nodes += 8;
        QVERIFY(seconds(moved) < seconds(*plan));
        QCOMPARE(seconds(moved), seconds(bought));
        for (const ShadowPrice &price : priced(*plan).list)
            if (price.kind == ResourceKind::Node)
                QVERIFY2(price.gain < 1e-7, price.label.c_str());
    }

    /// Of plans that a person could have written: what a price or a retirement says is what its plan does, and a GPU
    /// that is described as it was changes nothing.
    void whatIsSaidOfARandomPlanIsWhatItsPlansDo()
    {
        int checked = 0;
        const int plans = test::trials(12);
        for (unsigned seed = 0; seed < unsigned(plans); ++seed) {
            const auto plan = std::make_shared<const Plan>(test::RandomValidPlan(seed).plan());
            EvaluationWorkspace workspace;
            const auto prices = shadowPrices(plan, builtinCatalogue(), workspace);
            if (!prices)
                continue;
            const double own = prices->now->metrics.iterationTime.value_or(0);
            for (std::size_t i = 0; i < prices->list.size(); i += 5) {
                const ShadowPrice &price = prices->list[i];
                if (!price.isFeasible)
                    continue;
                const double then = seconds(*price.plan);
                QVERIFY(then > 0 && std::isfinite(price.gain) && std::isfinite(price.elasticity()));
                if (!price.isReplanned && prices->now->feasible())
                    QVERIFY2(
                        areNear(own - price.secondsSaved, then, 1e-9), (price.label + std::to_string(seed)).c_str());
                ++checked;
            }
            for (const HardwareResource &resource : resourcesOf(*plan, builtinCatalogue())) {
                Plan same = *plan;
                resource.set(same, resource.now);
                if (own > 0)
                    QVERIFY2(seconds(same) == own, (resource.id + " " + std::to_string(seed)).c_str());
            }
            const auto retired = retirements(plan, builtinCatalogue(), workspace);
            QVERIFY(retired.has_value());
            for (const Retirement &gpus : *retired)
                if (gpus.isFeasible)
                    QVERIFY2(areNear(gpus.seconds, seconds(*gpus.plan), 1e-9),
                        (gpus.sentence + " " + std::to_string(seed) + " " + std::to_string(gpus.seconds) + " "
                            + std::to_string(seconds(*gpus.plan)))
                            .c_str());
        }
        QVERIFY(checked > plans);
    }

    void otherObjectivesHavePricesOfTheirOwn()
    {
        const Plan plan = test::oneSite(4);
        // A node more that trains nothing more costs: by the price of a token it is a loss
        const ShadowPrices cost = priced(plan, 0.1, Objective::Cost);
        const ShadowPrice *node = find(cost, "nodes:a:a-pool");
        QVERIFY(node && node->gain < 0.2);
        const ShadowPrice *flops = find(cost, "gpu:h100-sxm-80gb:flops");
        const ShadowPrice *faster = find(priced(plan), "gpu:h100-sxm-80gb:flops");
        // at the same price by the hour USD per token go with the iteration
        QVERIFY(flops && areNear(flops->gain, faster->gain, 1e-9));
    }

    void aPlanOfJobsHasNoneAndAStoppedOneIsAnError()
    {
        Plan plan = test::oneSite(1, 1);
        EvaluationWorkspace workspace;
        std::stop_source stop;
        stop.request_stop();
        const auto stopped = shadowPrices(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace,
            Objective::Throughput, 0.1, stop.get_token());
        QVERIFY(!stopped);
        QCOMPARE(stopped.error().front().code, ErrorCode::Cancelled);
        plan.jobs = { { .name = "x", .model = "gpt-3-1.3b" } };
        QVERIFY(priced(plan).list.empty());
    }
};

TRAINYARD_GUILESS_TEST(TstShadowPrices)
#include "tst_shadow_prices.moc"
