// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/validate.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;

namespace {

Plan example()
{
    Plan plan;
    plan.workload.model = "llama-3-8b";
    plan.workload.globalBatch = 64;
    plan.parallelism.pipeline = 4;
    for (const char *id : { "a", "b" }) {
        Datacenter datacenter;
        datacenter.id = id;
        Pool pool;
        pool.id = std::string(id) + "-h100";
        pool.gpu = "h100-sxm-80gb";
        pool.nodes = 8;
        datacenter.pools = { pool };
        plan.cluster.datacenters.push_back(datacenter);
    }
    plan.cluster.wanLinks.resize(1);
    plan.cluster.wanLinks[0].between = { "a", "b" };
    plan.placement.stages = { { "a", 2, {} }, { "b", 2, {} } };
    return plan;
}

/// The places of the errors after a change.
template <class Change> std::vector<std::string> faults(Change change)
{
    Plan plan = example();
    change(plan);
    std::vector<std::string> places;
    for (const Error &error : validatePlan(plan)) {
        places.push_back(error.where);
        if (error.what.empty() || error.right.empty())
            places.push_back("an error without what or right");
    }
    return places;
}

using Places = std::vector<std::string>;

} // namespace

class TstValidate : public QObject {
    Q_OBJECT

private slots:
    void aGoodPlanHasNoFault() { QVERIFY(validatePlan(example()).empty()); }

    void idsAreUnique()
    {
        QCOMPARE(faults([](Plan &p) { p.cluster.datacenters[1].pools[0].id = "a-h100"; }),
            Places { "cluster.datacenters[1].pools[0].id" });
        QVERIFY(
            std::ranges::count(faults([](Plan &p) { p.cluster.datacenters[1].id = "a"; }), "cluster.datacenters[1].id")
            == 1);
    }

    void linksAndPinsNameDatacenters()
    {
        QCOMPARE(faults([](Plan &p) { p.cluster.wanLinks[0].between[1] = "c"; }),
            Places { "cluster.wan_links[0].between[1]" });
        QCOMPARE(
            faults([](Plan &p) { p.cluster.wanLinks[0].between[1] = "a"; }), Places { "cluster.wan_links[0].between" });
        QCOMPARE(faults([](Plan &p) { p.cluster.wanLinks.push_back(p.cluster.wanLinks[0]); }),
            Places { "cluster.wan_links[1].between" });
        QCOMPARE(faults([](Plan &p) { p.placement.stages[0].datacenter = "c"; }),
            Places { "placement.stages[0].datacenter" });
        QCOMPARE(faults([](Plan &p) { p.placement.stages[1].datacenter = "a"; }),
            Places { "placement.stages[1].datacenter" });
    }

    void pinnedStagesAddUpToThePipeline()
    {
        QCOMPARE(faults([](Plan &p) { p.parallelism.pipeline = 5; }), Places { "placement.stages" });
    }

    void microBatchesDivideTheBatch()
    {
        QCOMPARE(faults([](Plan &p) { p.workload.microBatch = 3; }), Places { "workload.micro_batch" });
        QCOMPARE(faults([](Plan &p) { p.parallelism.data = 65; }), Places { "parallelism.data" });
        QVERIFY(faults([](Plan &p) { p.parallelism.data = 3; }).empty()); // dealt 22, 21, 21
    }

    void sizesStayWithinWhatCanBeCounted()
    {
        QCOMPARE(faults([](Plan &p) { p.cluster.datacenters[0].pools[0].nodes = 2000000; }),
            Places { "cluster.datacenters" });
        QCOMPARE(
            faults([](Plan &p) { p.parallelism.tensor = 1024, p.parallelism.context = 1024, p.parallelism.data = 64; }),
            Places { "parallelism" });
        QCOMPARE(faults([](Plan &p) {
            for (auto &d : p.cluster.datacenters)
                d.pools.clear();
        }),
            Places { "cluster.datacenters" });
        const auto withPools = [](std::size_t most) {
            return faults([most](Plan &p) {
                auto &pools = p.cluster.datacenters[0].pools;
                pools.resize(most - (p.cluster.datacenters.size() - 1), pools[0]);
                for (std::size_t i = 0; i < pools.size(); ++i)
                    pools[i].id = "pool-" + std::to_string(i), pools[i].nodes = 1;
            });
        };
        QCOMPARE(std::ranges::count(withPools(4'096), "cluster.datacenters"), 0);
        QCOMPARE(std::ranges::count(withPools(4'097), "cluster.datacenters"), 1);
    }

    void aProfileHasOneTimeOrOneForEachStage()
    {
        const auto withBackward = [](const PerStage &times) {
            return faults([&](Plan &p) {
                p.profile.emplace();
                p.profile->forwardMs = { 1 };
                p.profile->backwardMs = times;
            });
        };
        QVERIFY(withBackward({ 1, 2, 3, 4 }).empty());
        QCOMPARE(withBackward({ 1, 2 }), Places { "profile.backward_ms" });
    }
};

TRAINYARD_APPLESS_TEST(TstValidate)
#include "tst_validate.moc"
