// SPDX-License-Identifier: GPL-3.0-or-later
// Experts as places: every expert once a group, where the ranks of the layout say, and bytes that add up.
#include "core/evaluation/evaluate/expert_places.h"
#include "tests/support/test_program.h"

#include "core/iteration/layouts/placements.h"
#include "tests/support/plans.h"
#include "tests/support/workloads.h"

#include <QTest>

#include <cmath>
#include <map>
#include <set>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// 128 experts over 16 ranks: two groups, each over two nodes of eight.
Plan overNodes()
{
    Plan plan;
    plan.cluster.datacenters = { site("a", 4) };
    plan.workload.model = "qwen3-30b-a3b";
    plan.workload.sequenceLength = 4096;
    plan.workload.globalBatch = 64;
    plan.parallelism.expert = 16;
    return plan;
}

Evaluation placed(const Plan &plan, PlacementMode mode = PlacementMode::PipelineAcross)
{
    Evaluation evaluation;
    evaluation.plan = std::make_shared<const Plan>(plan);
    const Workload workload = test::placedWorkload(plan, mode);
    evaluation.model = workload.model;
    evaluation.layout = workload.layout;
    return evaluation;
}

/// 4096 tokens of 4096 bytes, eight visits each.
ExpertLayer layerOf(MoeDispatch dispatch)
{
    ExpertLayer layer;
    layer.request.tokens.tokens = 4096;
    layer.request.tokens.dispatchBytes = 4096;
    layer.request.tokens.choices = 8;
    layer.request.tokens.experts = 128;
    layer.choice.dispatch = dispatch;
    return layer;
}

constexpr double kVisits = 4096.0 * 4096 * 8;

bool isNear(double a, double b)
{
    return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

} // namespace

class TestExpertPlaces : public QObject {
    Q_OBJECT

private slots:
    void everyExpertIsOnceInEachGroup()
    {
        const ExpertPlaces places(placed(overNodes()), layerOf(MoeDispatch::Flat), 0);
        QCOMPARE(places.groups(), 2);
        QCOMPARE(places.expertsEach(), 8);
        QCOMPARE(places.ranks().size(), 32u);
        std::map<int, std::set<int>> experts; // by group
        for (const ExpertPlace &place : places.ranks()) {
            QCOMPARE(place.node, place.gpu / 8);
            QCOMPARE(places.find(place.at, place.gpu), &place);
            for (int e = 0; e < places.expertsEach(); ++e)
                QVERIFY(experts[place.group].insert(places.firstExpert(place) + e).second);
        }
        for (const auto &[group, held] : experts)
            QCOMPARE(held.size(), 128u);
        // Ranks in a row: experts 8 to 15 are on the second rank of each group of 16.
        const auto holders = places.holders(9);
        QCOMPARE(holders.size(), 2u);
        QCOMPARE(holders[0]->gpu, 1);
        QCOMPARE(holders[1]->gpu, 17);
        QVERIFY(places.holders(128).empty() && places.holders(-1).empty());
        QCOMPARE(places.find({ 0, 0 }, 32), nullptr);
    }

    /// A rank sends all its visits, and gets as many; those of 16 GPUs in two nodes half and half.
    void bytesAddUp()
    {
        const ExpertPlaces places(placed(overNodes()), layerOf(MoeDispatch::Flat), 0);
        for (const ExpertPlace &one : places.ranks()) {
            double sent = 0, got = 0;
            for (const ExpertPlace &other : places.ranks()) {
                sent += places.bytes(one, other);
                got += places.bytes(other, one);
                QCOMPARE(places.bytes(one, other) > 0, one.group == other.group);
            }
            QVERIFY(isNear(sent, kVisits) && isNear(got, kVisits));
            const auto nodes = places.senders(one, SenderKind::Node);
            QCOMPARE(nodes.size(), 2u);
            for (const ExpertSender &node : nodes) {
                QCOMPARE(node.gpus, 8);
                QVERIFY(isNear(node.bytes, kVisits / 2));
            }
            QCOMPARE(places.senders(one, SenderKind::Gpu).size(), 16u);
            QCOMPARE(places.senders(one, SenderKind::Datacenter).size(), 1u);
        }
    }

    /// Loads of single experts: a rank gets in proportion to its own, whoever sends.
    void aFullerRankGetsMore()
    {
        Plan plan = overNodes();
        plan.moe.expertLoads.assign(128, 1);
        for (int e = 40; e < 48; ++e) // of the sixth rank
            plan.moe.expertLoads[std::size_t(e)] = 4;
        const ExpertPlaces places(placed(plan), layerOf(MoeDispatch::Flat), 0);
        const double mean = (120 + 8 * 4) / 128.0;
        QCOMPARE(places.fullestExpert(), 40);
        for (const ExpertPlace &place : places.ranks()) {
            const double load = (place.part == 5 ? 4 : 1) / mean;
            QVERIFY(isNear(place.load, load));
            double got = 0;
            for (const ExpertSender &sender : places.senders(place, SenderKind::Gpu))
                got += sender.bytes;
            QVERIFY(isNear(got, kVisits * load));
        }
    }

    /// A copy for each rank visited: of 16 places with 8 of 128 experts each, P = 1 - C(120, 8) / C(128, 8).
    void aTokenComesOnceToARankThatItVisitsTwice()
    {
        double misses = 1;
        for (int i = 0; i < 8; ++i)
            misses *= (120.0 - i) / (128 - i);
        const ExpertPlaces places(placed(overNodes()), layerOf(MoeDispatch::Dedup), 0);
        const ExpertPlace &one = places.ranks().front();
        QVERIFY(isNear(places.bytes(one, one), 4096.0 * 4096 * (1 - misses)));
        const ExpertPlaces all(placed(overNodes()), layerOf(MoeDispatch::AllGather), 0);
        QVERIFY(isNear(all.bytes(all.ranks()[3], all.ranks()[7]), 4096.0 * 4096));
    }

    /// Eight ranks in one datacenter, eight in the other: half of what comes is from elsewhere.
    void aGroupOverDatacentersIsSentToFromBoth()
    {
        Plan plan = overNodes();
        plan.cluster.datacenters = { site("a", 1), site("b", 1) };
        plan.cluster.wanLinks = { wanLink("a", "b") };
        const ExpertPlaces places(placed(plan, PlacementMode::DataAcross), layerOf(MoeDispatch::Flat), 0);
        QCOMPARE(places.groups(), 1);
        const auto senders = places.senders(places.ranks().front(), SenderKind::Datacenter);
        QCOMPARE(senders.size(), 2u);
        for (const ExpertSender &sender : senders)
            QVERIFY(isNear(sender.bytes, kVisits / 2));
    }

    void aStageWithoutExpertLayersHasNoPlaces()
    {
        Plan plan = overNodes();
        plan.workload.model = "llama-3-8b";
        plan.parallelism.expert = 1;
        QVERIFY(ExpertPlaces(placed(plan), layerOf(MoeDispatch::Flat), 0).isEmpty());
        QVERIFY(ExpertPlaces(placed(overNodes()), layerOf(MoeDispatch::Flat), 7).isEmpty());
    }
};

TRAINYARD_APPLESS_TEST(TestExpertPlaces)
#include "tst_expert_places.moc"
