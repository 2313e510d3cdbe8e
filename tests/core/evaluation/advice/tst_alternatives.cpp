// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/alternatives.h"
#include "tests/support/test_program.h"

#include "core/engine/schedule/program.h"

#include <QTest>

#include "tests/support/plans.h"

#include <algorithm>
#include <map>
#include <set>

using namespace trainyard;

namespace {

Pool pool(const std::string &id, const std::string &gpu, int nodes)
{
    Pool p;
    p.id = id;
    p.gpu = gpu;
    p.nodes = nodes;
    return p;
}

Plan twoDatacenters()
{
    Plan plan;
    Datacenter a, b;
    a.id = "a";
    a.name = "Aville";
    a.pools = { pool("a-h100", "h100-sxm-80gb", 8) };
    b.id = "b";
    b.pools = { pool("b-h100", "h100-sxm-80gb", 4) };
    plan.cluster.datacenters = { a, b };
    WanLink link;
    link.between = { "a", "b" };
    link.rttMs = 60;
    link.capacityGbps = 400;
    link.nodePairGbps = 5;
    plan.cluster.wanLinks = { link };
    plan.workload.model = "llama-3-70b";
    plan.workload.globalBatch = 64;
    plan.parallelism.tensor = 8;
    plan.parallelism.pipeline = 4;
    return plan;
}

const Alternative *find(const std::vector<Alternative> &list, const std::string &id)
{
    const auto it = std::ranges::find(list, id, &Alternative::id);
    return it == list.end() ? nullptr : &*it;
}

} // namespace

class AlternativesTest : public QObject {
    Q_OBJECT
private slots:
    void everyGroupHasExactlyOneCurrentValueAndItIsThePlan()
    {
        const Plan plan = twoDatacenters();
        std::map<std::string, int> current;
        for (const Alternative &a : strategyAlternatives(plan, builtinCatalogue())) {
            current[a.group] += a.isCurrent;
            if (a.isCurrent)
                QCOMPARE(*a.plan, plan);
        }
        QVERIFY(current.size() >= 12);
        for (const auto &[group, count] : current)
            QVERIFY2(count == 1, group.c_str());
    }

    void idsAreUniqueAndAValueIsEitherAPlanOrAReason()
    {
        const Plan plan = twoDatacenters();
        std::set<std::string> ids;
        for (const Alternative &a : strategyAlternatives(plan, builtinCatalogue())) {
            QVERIFY2(ids.insert(a.id).second, a.id.c_str());
            QVERIFY2((a.plan == nullptr) == !a.blockedBecause.empty(), a.id.c_str());
        }
    }

    void anotherValueChangesOnlyWhatItSays()
    {
        const Plan plan = twoDatacenters();
        const auto list = strategyAlternatives(plan, builtinCatalogue());
        const Alternative *full = find(list, "recompute=full");
        QVERIFY(full && full->plan);
        Plan expected = plan;
        expected.memory.recompute = Recompute::Full;
        QCOMPARE(*full->plan, expected);
        QCOMPARE(full->sentence, std::string("Recompute none → full"));
    }

    void aStackWithKnownReleasesOffersThem()
    {
        Plan plan = twoDatacenters();
        const std::string newest = builtinCatalogue().stack("megatron-core")->releases.back().id;
        const auto list = strategyAlternatives(plan, builtinCatalogue());
        QVERIFY(find(list, "release=null")->isCurrent);
        const Alternative *named = find(list, "release=" + newest);
        QVERIFY(named && named->plan);
        QCOMPARE(named->plan->stack.release, newest);
        QCOMPARE(named->sentence, "Release of the software not named → " + newest);
        // Another stack leaves the release behind; the present one keeps it.
        const auto next = strategyAlternatives(*named->plan, builtinCatalogue());
        QVERIFY(find(next, "stack=megatron-core")->isCurrent);
        QCOMPARE(find(next, "stack=fsdp")->plan->stack.release, std::string());
        QVERIFY(find(next, "release=" + newest)->isCurrent);
        plan.stack.name = "ideal";
        QVERIFY(!find(strategyAlternatives(plan, builtinCatalogue()), "release=null"));
    }

    void interleavingBringsItsChunksAndLeavesWithThem()
    {
        Plan plan = twoDatacenters();
        const auto list = strategyAlternatives(plan, builtinCatalogue());
        const Alternative *interleaved = find(list, "schedule=interleaved");
        QVERIFY(interleaved && interleaved->plan);
        QCOMPARE(interleaved->plan->parallelism.virtualPipeline, 2);
        const auto back = strategyAlternatives(*interleaved->plan, builtinCatalogue());
        QCOMPARE(*find(back, "schedule=1f1b")->plan, plan);
        QCOMPARE(*find(back, "virtual=1")->plan, plan);
    }

    void tensorParallelTakesWholeNodesAndDividesTheHeads()
    {
        Plan plan = twoDatacenters();
        for (Datacenter &d : plan.cluster.datacenters)
            d.pools.front().gpusPerNode = 4;
        const auto list = strategyAlternatives(plan, builtinCatalogue());
        const Alternative *two = find(list, "tensor=2");
        QVERIFY(two && two->plan);
        ModelSpec odd;
        odd.heads = 6;
        odd.layers = 12;
        const auto oddList = strategyAlternatives(plan, builtinCatalogue(), &odd);
        QVERIFY(find(oddList, "tensor=4")->blockedBecause.find("heads") != std::string::npos);
        plan.parallelism.tensor = 2;
        QVERIFY(find(strategyAlternatives(plan, builtinCatalogue()), "tensor=8")->plan); // two nodes of 4
        for (Datacenter &d : plan.cluster.datacenters)
            d.pools.front().gpusPerNode = 3;
        QVERIFY(find(strategyAlternatives(plan, builtinCatalogue()), "tensor=8")->blockedBecause.find("node")
            != std::string::npos);
    }

    void whatNeedsAPartnerSaysSo()
    {
        Plan plan = twoDatacenters();
        plan.cluster.datacenters.pop_back();
        plan.cluster.wanLinks.clear();
        plan.parallelism.tensor = plan.parallelism.pipeline = 1;
        const auto list = strategyAlternatives(plan, builtinCatalogue());
        QVERIFY(!find(list, "sequence_parallel=true")->plan);
        QVERIFY(!find(list, "tcp_connections=1")->plan);
        QVERIFY(!find(list, "placement=data-across")->plan);
        QVERIFY(!find(list, "virtual=2")->plan);
        QVERIFY(!find(list, "schedule=gpipe")->plan);
    }

    void aPinnedPlacementIsAValueOfItsOwnThatOthersClear()
    {
        Plan plan = twoDatacenters();
        plan.placement.stages = { { "a", 3, {} }, { "b", 1, {} } };
        const auto list = strategyAlternatives(plan, builtinCatalogue());
        QVERIFY(find(list, "placement=pinned")->isCurrent);
        QVERIFY(find(list, "placement=auto")->plan->placement.stages.empty());
    }

    void aProfileFixesWhatItWasMeasuredWith()
    {
        Plan plan = twoDatacenters();
        plan.profile = MeasuredStageTimes { .forwardMs = { 10 }, .backwardMs = { 20 } };
        const auto list = strategyAlternatives(plan, builtinCatalogue());
        QVERIFY(!find(list, "pipeline=2")->plan && !find(list, "micro_batch=2")->plan);
        QVERIFY(find(list, "recompute=full")->plan && find(list, "schedule=gpipe")->plan);
    }

    void precisionAsksTheGpus()
    {
        Plan plan = twoDatacenters();
        const auto modern = strategyAlternatives(plan, builtinCatalogue());
        QVERIFY(find(modern, "precision=fp8")->plan);
        plan.cluster.datacenters[1].pools[0].gpu = "v100-sxm-32gb";
        const auto mixed = strategyAlternatives(plan, builtinCatalogue());
        QVERIFY(!find(mixed, "precision=fp8")->plan);
    }

    void ofThousandsOfPartsThoseOfDatacentersInUseAreKept()
    {
        // 30 datacenters in a mesh: 435 links and 870 ways to move nodes. The plan trains in two of them.
        Plan plan = test::oneSite(4);
        plan.parallelism.data = 1;
        plan.cluster.datacenters.clear();
        for (int a = 0; a < 30; ++a) {
            plan.cluster.datacenters.push_back(test::site("dc" + std::to_string(a), 2));
            for (int b = 0; b < a; ++b)
                plan.cluster.wanLinks.push_back(test::wanLink("dc" + std::to_string(b), "dc" + std::to_string(a)));
        }
        plan.placement.mode = PlacementMode::PipelineAcross;
        plan.placement.stages = { { "dc17", 2, {} }, { "dc23", 2, {} } };
        const auto now = test::evaluated(plan);
        const BetterParts parts = betterParts(plan, builtinCatalogue(), &now->layout);
        QCOMPARE(parts.list.size(), kMostParts);
        QVERIFY(parts.leftOut > 1000);
        const auto has = [&](const std::string &group) {
            return std::ranges::any_of(parts.list, [&](const Alternative &a) { return a.group == group; });
        };
        QVERIFY(has("link:dc17-dc23:pair") && has("link:dc17-dc23:rtt") && has("nodes:dc17:dc17-pool")
            && has("nodes:dc23:dc23-pool"));
        QVERIFY(has("move:dc17:dc23") && has("pin:0:1"));
        QCOMPARE(betterParts(plan, builtinCatalogue(), &now->layout, 3).list.size(), std::size_t(3));
        // A plan of many spans has fewer parts tried, but one at least.
        QCOMPARE(mostParts(100), kMostParts);
        QCOMPARE(mostParts(kMostPartSpans / 5), std::size_t(5));
        QCOMPARE(mostParts(2 * kMostPartSpans), std::size_t(1));
    }

    void aNodeMoreIsOfferedOnceForEqualPools()
    {
        Plan plan = test::oneSite(8);
        std::vector<Pool> &pools = plan.cluster.datacenters.front().pools;
        for (int k = 0; k < 50; ++k) {
            pools.push_back(pools.front());
            pools.back().id = "more-" + std::to_string(k);
        }
        pools.push_back(pools.front());
        pools.back().id = "dearer";
        pools.back().usdPerGpuHour = 99;
        std::set<std::string> groups;
        for (const Alternative &part : betterParts(plan, builtinCatalogue()).list)
            if (part.group.starts_with("nodes:"))
                groups.insert(part.group);
        QCOMPARE(groups, (std::set<std::string> { "nodes:a:a-pool", "nodes:a:dearer" }));
    }

    void betterPartsAreBetterInOneThing()
    {
        const Plan plan = twoDatacenters();
        const auto parts = betterParts(plan, builtinCatalogue()).list;
        // A quarter of 5, down to 1, 2 or 5: 1 Gbps. A quarter of 400: 100. A quarter of 60 ms: 10.
        const Alternative *pair = find(parts, "link:a-b:pair:1");
        QVERIFY(pair);
        QCOMPARE(pair->plan->cluster.wanLinks[0].nodePairGbps, 6.0);
        QCOMPARE(pair->label, std::string("Aville–b +1 Gbps per node pair"));
        QCOMPARE(find(parts, "link:a-b:capacity:100")->plan->cluster.wanLinks[0].capacityGbps, 500.0);
        QCOMPARE(find(parts, "link:a-b:rtt:10")->plan->cluster.wanLinks[0].rttMs, 50.0);
        QCOMPARE(find(parts, "nodes:a:a-h100:2")->plan->cluster.datacenters[0].pools[0].nodes, 10);
        for (const Alternative &part : parts) {
            Plan rest = *part.plan;
            rest.cluster = plan.cluster;
            rest.placement = plan.placement;
            QVERIFY2(rest == plan, part.id.c_str());
            QVERIFY2(!(*part.plan == plan), part.id.c_str());
        }
    }

    void fasterDrivesAreOfferedWhereSomethingLiesOnThem()
    {
        Plan plan = twoDatacenters();
        plan.cluster.datacenters[0].pools[0].ssd = Ssd { .writeGBps = 10, .readGBps = 14 };
        const auto hasDrives = [&] {
            const auto parts = betterParts(plan, builtinCatalogue()).list;
            return std::ranges::any_of(
                parts, [](const Alternative &part) { return part.group.starts_with("drives-"); });
        };
        QVERIFY(!hasDrives());
        plan.memory.activationOffload = ActivationOffload::Ssd;
        QVERIFY(hasDrives());
        const auto parts = betterParts(plan, builtinCatalogue()).list;
        const Alternative *read = find(parts, "drives-read:a:a-h100:2");
        QVERIFY(read);
        QCOMPARE(read->label, std::string("Drives read 14 → 28 GB/s per node in Aville"));
        QCOMPARE(read->plan->cluster.datacenters[0].pools[0].ssd->readGBps, 28.0);
        QCOMPARE(read->plan->cluster.datacenters[0].pools[0].ssd->writeGBps, 10.0);
    }

    void movesKeepEveryGpu()
    {
        const Plan plan = twoDatacenters();
        int moves = 0;
        for (const Alternative &part : betterParts(plan, builtinCatalogue()).list) {
            if (!part.group.starts_with("move:"))
                continue;
            ++moves;
            QCOMPARE(part.plan->cluster.gpus(), plan.cluster.gpus());
        }
        // 1, 2, 4, 8 nodes out of 8, and 1, 2, 4 out of 4.
        QCOMPARE(moves, 7);
    }

    void theNextGpuHasMoreMemoryOrIsFaster()
    {
        const Plan plan = twoDatacenters();
        const GpuSpec *now = builtinCatalogue().gpu("h100-sxm-80gb");
        int upgrades = 0;
        for (const Alternative &part : betterParts(plan, builtinCatalogue()).list) {
            if (!part.group.starts_with("gpu:"))
                continue;
            ++upgrades;
            const GpuSpec *next = builtinCatalogue().gpu(part.plan->cluster.datacenters[0].pools[0].gpu);
            QVERIFY(next);
            QVERIFY(next->memoryBytes > now->memoryBytes
                || next->peakFlops(Precision::Bf16) > now->peakFlops(Precision::Bf16));
        }
        QVERIFY(upgrades > 0);
    }
};

TRAINYARD_APPLESS_TEST(AlternativesTest)
#include "tst_alternatives.moc"
