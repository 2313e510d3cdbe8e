// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/alternatives.h"
#include "core/evaluation/advice/evaluate.h"
#include "core/facts/catalogue/catalogue.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <map>
#include <set>

using namespace trainyard;

namespace {

Plan twoSites()
{
    Plan plan = test::oneSite(4);
    plan.cluster.datacenters.push_back(test::site("b", 4));
    plan.cluster.wanLinks = { { .between = { "a", "b" }, .rttMs = 40 } };
    plan.workload.model = "llama-3-70b";
    return plan;
}

std::map<std::string, const Alternative *> byId(const std::vector<Alternative> &list)
{
    std::map<std::string, const Alternative *> index;
    for (const Alternative &a : list)
        index[a.id] = &a;
    return index;
}

std::set<std::string> groupsOf(const Plan &plan)
{
    std::set<std::string> groups;
    for (const Alternative &a : strategyAlternatives(plan, builtinCatalogue()))
        groups.insert(a.group);
    return groups;
}

} // namespace

class WanAlternativesTest : public QObject {
    Q_OBJECT
private slots:
    void sharingBringsCellsAndTurnsWithIt()
    {
        Plan plan = twoSites();
        QVERIFY(groupsOf(plan).contains("sharing") && !groupsOf(plan).contains("cell")
            && !groupsOf(plan).contains("turns"));
        const auto list = strategyAlternatives(plan, builtinCatalogue());
        Plan expected = plan;
        expected.wan.sharing = WanSharing::Temporal;
        QCOMPARE(*byId(list).at("sharing=temporal")->plan, expected);
        QCOMPARE(byId(list).at("sharing=temporal")->sentence, std::string("WAN sharing spatial → temporal"));
        const auto within = strategyAlternatives(expected, builtinCatalogue());
        QCOMPARE(byId(within).at("cell=4")->plan->wan.cell, std::optional<int>(4));
        QVERIFY(byId(within).at("cell=auto")->isCurrent);
        QCOMPARE(byId(within).at("turns=drain-first")->plan->wan.turns, TurnOrder::DrainFirst);
    }

    void aCellSizeThatWasTypedIsInTheList()
    {
        Plan plan = twoSites();
        plan.wan.sharing = WanSharing::Temporal;
        plan.wan.cell = 5;
        const auto list = strategyAlternatives(plan, builtinCatalogue());
        QVERIFY(byId(list).at("cell=5")->isCurrent);
        QCOMPARE(byId(list).at("cell=1")->label, std::string("1 pipeline"));
        QCOMPARE(byId(list).at("cell=5")->label, std::string("5 pipelines"));
    }

    void localSgdBringsItsStepsAndStreamingItsFragments()
    {
        Plan plan = twoSites();
        QVERIFY(!groupsOf(plan).contains("local_steps"));
        plan.wan.localSgd = LocalSgd::Diloco;
        QVERIFY(groupsOf(plan).contains("local_steps") && groupsOf(plan).contains("exchange_bits")
            && !groupsOf(plan).contains("fragments"));
        plan.wan.localSgd = LocalSgd::Streaming;
        QVERIFY(groupsOf(plan).contains("fragments"));
        const auto list = strategyAlternatives(plan, builtinCatalogue());
        QCOMPARE(byId(list).at("exchange_bits=4")->plan->wan.exchangeBits, 4);
        QCOMPARE(byId(list).at("local_steps=500")->plan->wan.localSteps, 500);
    }

    void gradientsCrossOnlyWhereReplicasMayLieApart()
    {
        Plan plan = twoSites();
        for (const char *group : { "all_reduce", "gradient_bits", "local_sgd" })
            QVERIFY2(groupsOf(plan).contains(group), group);
        plan.placement.mode = PlacementMode::PipelineAcross;
        for (const char *group : { "all_reduce", "gradient_bits", "local_sgd" })
            QVERIFY2(!groupsOf(plan).contains(group), group);
        QVERIFY(groupsOf(plan).contains("activation_bits"));
        const auto list = strategyAlternatives(plan, builtinCatalogue());
        QCOMPARE(byId(list).at("activation_bits=8")->plan->wan.activationBits, std::optional<int>(8));
        QVERIFY(byId(list).at("activation_bits=computed")->isCurrent);
    }

    void whatWouldChangeNothingSaysWhy()
    {
        Plan plan = twoSites();
        auto list = strategyAlternatives(plan, builtinCatalogue());
        QVERIFY(
            byId(list).at("congestion_control=bbr")->blockedBecause.find("no link loses packets") != std::string::npos);
        QVERIFY(byId(list).at("all_reduce=flat")->plan && byId(list).at("gradient_bits=8")->plan);
        plan.cluster.wanLinks[0].lossRate = 1e-4;
        plan.wan.localSgd = LocalSgd::Diloco;
        list = strategyAlternatives(plan, builtinCatalogue());
        QCOMPARE(byId(list).at("congestion_control=bbr")->plan->wan.congestion, CongestionControl::Bbr);
        QVERIFY(!byId(list).at("all_reduce=flat")->plan && !byId(list).at("gradient_bits=8")->plan);
        plan.placement.mode = PlacementMode::DataAcross;
        list = strategyAlternatives(plan, builtinCatalogue());
        QVERIFY(!byId(list).at("activation_bits=8")->plan);
    }

    void oneSiteHasNothingToChooseBetweenSites()
    {
        Plan plan = twoSites();
        plan.cluster.datacenters.pop_back();
        plan.cluster.wanLinks.clear();
        for (const char *group : { "sharing", "congestion_control", "all_reduce", "activation_bits", "local_sgd" })
            QVERIFY2(!groupsOf(plan).contains(group), group);
    }

    void fillingBubblesStartsWithSomethingToServe()
    {
        const Plan plan = twoSites();
        const auto list = strategyAlternatives(plan, builtinCatalogue());
        const Alternative *on = byId(list).at("bubble_fill=true");
        QVERIFY(on->plan->bubbleFill.enabled);
        QCOMPARE(on->plan->bubbleFill.model, std::string("llama-3-8b"));
        QCOMPARE(on->plan->bubbleFill.stages, 8);
        QVERIFY(on->plan->bubbleFill.requestsPerSecond > 0);
        QVERIFY(!groupsOf(plan).contains("fill_stages") && groupsOf(*on->plan).contains("fill_stages"));
    }

    void fillingBubblesStartsWithAsManyGpusAsAreAligned()
    {
        // min(8, t cp x pipelines of a class at one stage); under temporal sharing a lane of a cell is a class.
        Plan plan = twoSites();
        plan.parallelism.tensor = 1;
        plan.parallelism.pipeline = 16; // 64 GPUs: 4 pipelines
        const auto stages = [](const Plan &p) {
            const auto list = strategyAlternatives(p, builtinCatalogue());
            return byId(list).at("bubble_fill=true")->plan->bubbleFill.stages;
        };
        plan.placement.mode = PlacementMode::PipelineAcross;
        QCOMPARE(stages(plan), 4);
        plan.wan.sharing = WanSharing::Temporal;
        plan.wan.cell = 2;
        plan.cluster.datacenters[0].pools[0].gpusPerNode = plan.cluster.datacenters[1].pools[0].gpusPerNode =
            1; // a cell sits on different nodes
        plan.cluster.datacenters[0].pools[0].nodes = plan.cluster.datacenters[1].pools[0].nodes = 32;
        QCOMPARE(stages(plan), 2);
    }

    void theFirstFlipOfFillingServesRequests()
    {
        Plan plan = twoSites();
        plan.parallelism.tensor = 1;
        plan.parallelism.pipeline = 16;
        plan.workload.model = "llama-3-8b";
        const auto list = strategyAlternatives(plan, builtinCatalogue());
        EvaluationWorkspace workspace;
        const auto evaluation = evaluate(byId(list).at("bubble_fill=true")->plan, builtinCatalogue(), workspace);
        QVERIFY(evaluation.has_value());
        QVERIFY((*evaluation)->metrics.bubbleFill);
        QVERIFY((*evaluation)->metrics.bubbleFill->groups > 0);
        QVERIFY((*evaluation)->metrics.bubbleFill->accepted > 0);
    }

    void fillingBubblesAgainKeepsWhatThePlanSays()
    {
        Plan plan = twoSites();
        plan.bubbleFill.model = "llama-2-7b";
        plan.bubbleFill.stages = 1;
        plan.bubbleFill.requestsPerSecond = 40;
        Plan expected = plan;
        expected.bubbleFill.enabled = true;
        const auto list = strategyAlternatives(plan, builtinCatalogue());
        QCOMPARE(*byId(list).at("bubble_fill=true")->plan, expected);
    }

    void aTraceIsChosenOnceItIsNamed()
    {
        Plan plan = twoSites();
        plan.bubbleFill.enabled = true;
        auto list = strategyAlternatives(plan, builtinCatalogue());
        QVERIFY(!byId(list).at("fill_arrivals=trace")->plan);
        plan.bubbleFill.trace = "requests.csv";
        list = strategyAlternatives(plan, builtinCatalogue());
        QCOMPARE(byId(list).at("fill_arrivals=trace")->plan->bubbleFill.arrivals, Arrivals::Trace);
    }

    void everyGroupHasOneCurrentValueWithAllSwitchesOn()
    {
        Plan plan = twoSites();
        plan.wan.sharing = WanSharing::Temporal;
        plan.wan.localSgd = LocalSgd::Streaming;
        plan.bubbleFill.enabled = true;
        std::map<std::string, int> current;
        std::set<std::string> ids;
        for (const Alternative &a : strategyAlternatives(plan, builtinCatalogue())) {
            current[a.group] += a.isCurrent;
            QVERIFY2(ids.insert(a.id).second, a.id.c_str());
            if (a.isCurrent)
                QCOMPARE(*a.plan, plan);
        }
        for (const auto &[group, count] : current)
            QVERIFY2(count == 1, group.c_str());
    }
};

TRAINYARD_APPLESS_TEST(WanAlternativesTest)
#include "tst_wan_alternatives.moc"
