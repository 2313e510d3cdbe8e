// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/cluster/edits.h"
#include "tests/support/test_program.h"

#include "tests/core/facts/plan/random_plan.h"

#include <QTest>

#include <algorithm>
#include <set>

using namespace trainyard;

namespace {

Cluster two()
{
    Cluster cluster;
    for (const char *id : { "a", "b" }) {
        Datacenter datacenter;
        datacenter.id = id;
        Pool pool;
        pool.id = std::string(id) + "-h100";
        pool.gpu = "h100-sxm-80gb";
        pool.nodes = 4;
        datacenter.pools = { pool };
        cluster.datacenters.push_back(datacenter);
    }
    return cluster;
}

std::map<std::string, int> gpusByType(const Cluster &cluster)
{
    std::map<std::string, int> count;
    for (const Datacenter &datacenter : cluster.datacenters)
        for (const Pool &pool : datacenter.pools)
            count[pool.gpu] += pool.gpus();
    return count;
}

bool idsAreUnique(const Cluster &cluster)
{
    std::set<std::string> ids;
    for (const Datacenter &datacenter : cluster.datacenters)
        for (const Pool &pool : datacenter.pools)
            if (pool.id.empty() || !ids.insert(pool.id).second)
                return false;
    return true;
}

/// Nodes by type and size, ids aside.
std::vector<std::map<std::pair<std::string, int>, int>> nodes(const Cluster &cluster)
{
    std::vector<std::map<std::pair<std::string, int>, int>> all;
    for (const Datacenter &datacenter : cluster.datacenters) {
        auto &count = all.emplace_back();
        for (const Pool &pool : datacenter.pools)
            count[{ pool.gpu, pool.gpusPerNode }] += pool.nodes;
    }
    return all;
}

} // namespace

class TstMoveGpus : public QObject {
    Q_OBJECT

private slots:
    void aWholeNodeJoinsAnEqualPool()
    {
        const Cluster next = *moveGpus(two(), GpuSelection { 0, 0, 24, 8 }, 1);
        QCOMPARE(next.datacenters[0].pools.size(), 1U);
        QCOMPARE(next.datacenters[0].pools[0].nodes, 3);
        QCOMPARE(next.datacenters[1].pools.size(), 1U);
        QCOMPARE(next.datacenters[1].pools[0].nodes, 5);
        QCOMPARE(next.datacenters[1].pools[0].id, std::string("b-h100"));
    }

    void aPartOfANodeBecomesANodeOfItsOwn()
    {
        const Cluster next = *moveGpus(two(), GpuSelection { 0, 0, 9, 3 }, 1);
        const auto &stays = next.datacenters[0].pools;
        QCOMPARE(stays.size(), 2U); // three whole nodes; the rest of the broken one
        QCOMPARE(stays[1].gpusPerNode, 5);
        QCOMPARE(stays[0].nodes, 3);
        QCOMPARE(stays[0].id, std::string("a-h100"));
        QCOMPARE(next.datacenters[0].gpus(), 29);
        QCOMPARE(next.datacenters[1].pools.back().nodes, 1);
        QCOMPARE(next.datacenters[1].pools.back().gpusPerNode, 3);
    }

    void aSelectionOverSeveralNodesKeepsThoseInsideWhole()
    {
        const Cluster next =
            *moveGpus(two(), GpuSelection { 0, 0, 6, 20 }, 1); // 2 of node 0, nodes 1 and 2, 2 of node 3
        const auto count = nodes(next)[1];
        QCOMPARE(count.at({ "h100-sxm-80gb", 8 }), 6);
        QCOMPARE(count.at({ "h100-sxm-80gb", 2 }), 2);
        QCOMPARE(nodes(next)[0].at({ "h100-sxm-80gb", 6 }), 2);
    }

    void theSameDatacenterGivesAnEqualCluster()
    {
        QVERIFY(*moveGpus(two(), GpuSelection { 0, 0, 3, 7 }, 0) == two());
        QVERIFY(*moveGpus(two(), 0, 5, 0) == two());
        QVERIFY(*moveGpus(two(), 0, 0, 1) == two());
    }

    void wholeNodesThereAndBackGiveAnEqualCluster()
    {
        const Cluster there = *moveGpus(two(), 0, 16, 1);
        QVERIFY(*moveGpus(there, 1, 16, 0) == two());
    }

    void aWholePoolKeepsItsSenseOfPlace()
    {
        Cluster cluster = two();
        cluster.datacenters[1].pools.clear();
        const Cluster next = *moveGpus(cluster, 0, 32, 1);
        QVERIFY(next.datacenters[0].pools.empty());
        QCOMPARE(next.datacenters[1].pools[0].id, std::string("b-h100"));
    }

    void whatIsWantedIsTakenInWholeNodesFirst()
    {
        Cluster cluster = two();
        Pool small = cluster.datacenters[0].pools[0];
        small.id = "a-part";
        small.nodes = 1;
        small.gpusPerNode = 3;
        cluster.datacenters[0].pools.push_back(small);
        const Cluster eight = *moveGpus(cluster, 0, 8, 1);
        QCOMPARE(nodes(eight)[1].at({ "h100-sxm-80gb", 8 }), 5);
        QVERIFY(!nodes(eight)[1].contains({ "h100-sxm-80gb", 3 }));
        const Cluster two = *moveGpus(cluster, 0, 2, 1); // breaks the smallest node
        QCOMPARE(nodes(two)[0].at({ "h100-sxm-80gb", 8 }), 4);
    }

    void nothingIsLostOnAnyMove()
    {
        for (unsigned seed = 0; seed < 400; ++seed) {
            test::RandomPlan random(seed);
            const Cluster before = random.cluster();
            const int from = random.whole(0, static_cast<int>(before.datacenters.size()) - 1);
            const int to = random.whole(0, static_cast<int>(before.datacenters.size()) - 1);
            const auto &pools = before.datacenters[static_cast<std::size_t>(from)].pools;
            const int pool = random.whole(0, static_cast<int>(pools.size()) - 1);
            const int first = random.whole(0, pools[static_cast<std::size_t>(pool)].gpus());
            const int gpus = random.whole(0, pools[static_cast<std::size_t>(pool)].gpus() - first);
            const auto next = moveGpus(before, GpuSelection { from, pool, first, gpus }, to);
            QVERIFY(next);
            QCOMPARE(gpusByType(*next), gpusByType(before));
            QVERIFY(idsAreUnique(*next));
            const int gained = next->datacenters[static_cast<std::size_t>(to)].gpus()
                - before.datacenters[static_cast<std::size_t>(to)].gpus();
            QCOMPARE(gained, from == to ? 0 : gpus);
            QVERIFY(next->wanLinks == before.wanLinks);
        }
    }

    void nothingIsLostOnAnyMoveByNumber()
    {
        for (unsigned seed = 0; seed < 400; ++seed) {
            test::RandomPlan random(seed);
            const Cluster before = random.cluster();
            const int from = random.whole(0, static_cast<int>(before.datacenters.size()) - 1);
            const int to = random.whole(0, static_cast<int>(before.datacenters.size()) - 1);
            const int gpus = random.whole(0, before.datacenters[static_cast<std::size_t>(from)].gpus());
            const auto next = moveGpus(before, from, gpus, to);
            QVERIFY(next);
            QCOMPARE(gpusByType(*next), gpusByType(before));
            QVERIFY(idsAreUnique(*next));
            QCOMPARE(next->gpus(), before.gpus());
        }
    }

    void manySmallMovesDoNotScatterPools()
    {
        Cluster cluster = two();
        for (int i = 0; i < 32; ++i)
            cluster = *moveGpus(cluster, 0, 1, 1);
        QCOMPARE(cluster.datacenters[1].gpus(), 64);
        QCOMPARE(cluster.datacenters[1].pools.size(), 2U); // whole nodes, and 32 nodes of one GPU
    }

    void whatDoesNotExistIsAnError()
    {
        for (const GpuSelection &bad :
            { GpuSelection { 2, 0, 0, 1 }, GpuSelection { -1, 0, 0, 1 }, GpuSelection { 0, 1, 0, 1 },
                GpuSelection { 0, -1, 0, 1 }, GpuSelection { 0, 0, -1, 2 }, GpuSelection { 0, 0, 31, 2 },
                GpuSelection { 0, 0, 0, -1 }, GpuSelection { 0, 0, 2147483647, 2147483647 } }) {
            const auto next = moveGpus(two(), bad, 1);
            QVERIFY(!next);
            QCOMPARE(next.error().code, ErrorCode::BadValue);
        }
        QVERIFY(!moveGpus(two(), GpuSelection { 0, 0, 0, 1 }, 2));
        QVERIFY(!moveGpus(two(), 0, 33, 1));
        QVERIFY(!moveGpus(two(), 0, -1, 1));
        QVERIFY(!moveGpus(two(), 0, 1, 7));
    }
};

TRAINYARD_APPLESS_TEST(TstMoveGpus)
#include "tst_move_gpus.moc"
