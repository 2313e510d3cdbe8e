// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/plan_diff.h"
#include "tests/support/test_program.h"

#include "core/facts/cluster/edits.h"
#include "core/facts/plan/plan_io.h"
#include "tests/core/facts/plan/random_plan.h"

#include <nlohmann/json.hpp>

#include <QTest>

#include <functional>

using namespace trainyard;

namespace {

Plan example()
{
    Plan plan;
    plan.workload.model = "llama-3-8b";
    plan.workload.globalBatch = 64;
    for (const char *name : { "Virginia", "Oregon" }) {
        Datacenter datacenter;
        datacenter.name = name;
        datacenter.id = name[0] == 'V' ? "virginia" : "oregon";
        Pool pool;
        pool.id = datacenter.id + "-h100";
        pool.gpu = "h100-sxm-80gb";
        pool.nodes = 8;
        datacenter.pools = { pool };
        plan.cluster.datacenters.push_back(datacenter);
    }
    WanLink link;
    link.between = { "virginia", "oregon" };
    link.rttMs = 60;
    plan.cluster.wanLinks = { link };
    return plan;
}

using Sentences = std::vector<std::string>;

template <class Change> Sentences after(Change change)
{
    Plan plan = example();
    change(plan);
    return describeDifferences(example(), plan);
}

/// Another value of the same kind, still within any range.
nlohmann::json nudged(const nlohmann::json &value)
{
    if (value.is_boolean())
        return !value.get<bool>();
    if (value.is_number_integer())
        return value.get<int>() > 1 ? value.get<int>() - 1 : value.get<int>() + 1;
    if (value.is_number())
        return value.get<double>() / 2;
    return value;
}

void eachLeaf(const nlohmann::json &value, const nlohmann::json::json_pointer &at,
    const std::function<void(const nlohmann::json::json_pointer &)> &visit)
{
    if (value.is_structured()) {
        for (const auto &[key, item] : value.items())
            eachLeaf(item, value.is_array() ? at / static_cast<std::size_t>(std::stoul(key)) : at / key, visit);
    } else {
        visit(at);
    }
}

} // namespace

class TstPlanDiff : public QObject {
    Q_OBJECT

private slots:
    void equalPlansDifferInNothing() { QVERIFY(describeDifferences(example(), example()).empty()); }

    void movedGpusAreRecognised()
    {
        QCOMPARE(after([](Plan &p) { p.cluster = *moveGpus(p.cluster, 0, 8, 1); }),
            Sentences { "Move 8 GPUs Virginia → Oregon" });
        QCOMPARE(after([](Plan &p) { p.cluster = *moveGpus(p.cluster, 0, 1, 1); }),
            Sentences { "Move 1 GPU Virginia → Oregon" });
        QCOMPARE(after([](Plan &p) { p.cluster = *moveGpus(p.cluster, 1, 64, 0); }),
            Sentences { "Move 64 GPUs Oregon → Virginia" });
    }

    void addedAndRemovedGpusAreNamedByType()
    {
        QCOMPARE(after([](Plan &p) { p.cluster.datacenters[0].pools[0].nodes = 9; }),
            Sentences { "Add 8 × H100 SXM 80 GB to Virginia" });
        QCOMPARE(after([](Plan &p) { p.cluster.datacenters[1].pools.clear(); }),
            Sentences { "Remove 64 × H100 SXM 80 GB from Oregon" });
        QCOMPARE(after([](Plan &p) { p.cluster.datacenters[1].pools[0].gpu = "rtx-4090-24gb"; }),
            Sentences { "Replace 64 × H100 SXM 80 GB in Oregon by RTX 4090 24 GB" });
    }

    void datacentersAndLinksComeAndGo()
    {
        const Sentences added = after([](Plan &p) {
            Datacenter ohio = p.cluster.datacenters[0];
            ohio.id = "ohio";
            ohio.name = "Ohio";
            p.cluster = withDatacenter(p.cluster, ohio);
            WanLink link;
            link.between = { "ohio", "oregon" };
            link.rttMs = 49;
            p.cluster = *withWanLink(p.cluster, link);
        });
        QCOMPARE(added,
            (Sentences { "Add datacenter Ohio with 64 × H100 SXM 80 GB", "Add link Ohio–Oregon with 49 ms RTT" }));
        QCOMPARE(after([](Plan &p) { p.cluster = *withoutDatacenter(p.cluster, 1); }),
            (Sentences { "Remove datacenter Oregon with 64 × H100 SXM 80 GB", "Remove link Virginia–Oregon" }));
    }

    void valuesAreSaidWithTheirUnits()
    {
        QCOMPARE(after([](Plan &p) { p.workload.microBatch = 2; }), Sentences { "Micro-batch 1 → 2" });
        QCOMPARE(
            after([](Plan &p) { p.cluster.wanLinks[0].rttMs = 40; }), Sentences { "RTT Virginia–Oregon 60 → 40 ms" });
        QCOMPARE(after([](Plan &p) { p.cluster.wanLinks[0].jitterMs = 4; }),
            Sentences { "Jitter Virginia–Oregon 0 → 4 ms" });
        QCOMPARE(after([](Plan &p) { p.wan.sharing = WanSharing::Temporal; }), Sentences { "Temporal WAN sharing on" });
        QCOMPARE(after([](Plan &p) { p.parallelism.data = 4; }), Sentences { "Data parallel auto → 4" });
        QCOMPARE(after([](Plan &p) { p.bubbleFill.enabled = true; }), Sentences { "Bubble filling on" });
        QCOMPARE(after([](Plan &p) { p.memory.recompute = Recompute::Full; }), Sentences { "Recompute none → full" });
        QCOMPARE(
            after([](Plan &p) { p.workload.model = "llama-3-70b"; }), Sentences { "Model llama-3-8b → llama-3-70b" });
        QCOMPARE(after([](Plan &p) { p.cluster.datacenters[1].fabricMeasuredGBps = 42.5; }),
            Sentences { "Measured rate of the fabric in Oregon default → 42.5 GB/s per GPU" });
        QCOMPARE(after([](Plan &p) { p.stack.release = "26.02"; }),
            Sentences { "Software stack megatron-core → megatron-core 26.02" });
        QCOMPARE(after([](Plan &p) { p.notes = "x"; }), Sentences { "Notes changed" });
        QCOMPARE(after([](Plan &p) {
            p.placement.stages = { { "virginia", 3, {} } };
        }),
            Sentences { "Pinned stages none → virginia 3" });
    }

    void regroupedNodesAreADifference()
    {
        QCOMPARE(after([](Plan &p) {
            p.cluster.datacenters[0].pools[0].nodes = 16, p.cluster.datacenters[0].pools[0].gpusPerNode = 4;
        }),
            Sentences { "Nodes of Virginia 8 × 8 → 16 × 4" });
    }

    void anyDifferenceOfOneValueHasASentence()
    {
        for (unsigned seed = 0; seed < 8; ++seed) {
            const Plan plan = test::RandomPlan(seed).plan();
            const auto document = nlohmann::json::parse(formatPlan(plan));
            int changed = 0;
            eachLeaf(document, nlohmann::json::json_pointer(), [&](const nlohmann::json::json_pointer &at) {
                auto other = document;
                other[at] = nudged(document[at]);
                const auto next = parsePlan(other.dump(), "p.json");
                if (!next || *next == plan)
                    return; // not a plan, or a text
                ++changed;
                QVERIFY2(!describeDifferences(plan, *next).empty(), at.to_string().c_str());
            });
            QVERIFY(changed > 10);
        }
    }

    void anyTwoPlansDifferInSentencesOrAreEqual()
    {
        for (unsigned seed = 0; seed < 200; ++seed) {
            const Plan a = test::RandomPlan(seed).plan(), b = test::RandomPlan(seed + 1).plan();
            QVERIFY(describeDifferences(a, a).empty());
            const Sentences sentences = describeDifferences(a, b);
            QVERIFY(!sentences.empty());
            for (const std::string &sentence : sentences)
                QVERIFY(!sentence.empty());
        }
    }

    void orderAndNamesCountToo()
    {
        QCOMPARE(after([](Plan &p) { std::swap(p.cluster.datacenters[0], p.cluster.datacenters[1]); }),
            Sentences { "Datacenters rearranged" });
        QCOMPARE(after([](Plan &p) { p.cluster.datacenters[0].pools[0].id = "x"; }),
            Sentences { "Pools of Virginia rearranged" });
        Plan mixed = example();
        Pool old = mixed.cluster.datacenters[0].pools[0];
        old.id = "virginia-v100";
        old.gpu = "v100-sxm-16gb";
        mixed.cluster.datacenters[0].pools.push_back(old);
        Plan turned = mixed;
        std::ranges::reverse(turned.cluster.datacenters[0].pools);
        QCOMPARE(describeDifferences(mixed, turned),
            Sentences { "Pools of Virginia in the order V100 SXM 16 GB, then H100 SXM 80 GB" });
        QCOMPARE(after([](Plan &p) { p.baseDir = "/plans"; }), Sentences { "Folder none → /plans" });
        QCOMPARE(after([](Plan &p) { p.extra["x"] = "1"; }), Sentences { "X none → 1" });
    }
};

TRAINYARD_APPLESS_TEST(TstPlanDiff)
#include "tst_plan_diff.moc"
