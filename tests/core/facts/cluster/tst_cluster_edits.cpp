// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/cluster/edits.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;

namespace {

Pool pool(const char *id, int nodes, int gpusPerNode = 8)
{
    Pool made;
    made.id = id;
    made.gpu = "h100-sxm-80gb";
    made.nodes = nodes;
    made.gpusPerNode = gpusPerNode;
    return made;
}

Cluster two()
{
    Cluster cluster;
    for (const char *id : { "a", "b" }) {
        Datacenter datacenter;
        datacenter.id = id;
        datacenter.pools = { pool(id[0] == 'a' ? "a-h100" : "b-h100", 4) };
        cluster.datacenters.push_back(datacenter);
    }
    WanLink link;
    link.between = { "a", "b" };
    cluster.wanLinks = { link };
    return cluster;
}

} // namespace

class TstClusterEdits : public QObject {
    Q_OBJECT

private slots:
    void anAddedDatacenterGetsAnIdOfItsOwn()
    {
        Datacenter again = two().datacenters[0];
        Cluster next = withDatacenter(two(), again);
        next = withDatacenter(next, again);
        QCOMPARE(next.datacenters[2].id, std::string("a-2"));
        QCOMPARE(next.datacenters[3].id, std::string("a-3"));
        QCOMPARE(next.datacenters[3].pools[0].id, std::string("a-h100-3"));
        QCOMPARE(withDatacenter(Cluster {}, Datacenter {}).datacenters[0].id, std::string("datacenter"));
    }

    void aDatacenterTakesItsLinksAlong()
    {
        const Cluster next = *withoutDatacenter(two(), 1);
        QCOMPARE(next.datacenters.size(), 1U);
        QVERIFY(next.wanLinks.empty());
        QVERIFY(!withoutDatacenter(two(), 2));
    }

    void anEqualPoolMerges()
    {
        const Cluster next = *withPool(two(), 0, pool("", 2));
        QCOMPARE(next.datacenters[0].pools.size(), 1U);
        QCOMPARE(next.datacenters[0].pools[0].nodes, 6);
        QCOMPARE(next.datacenters[0].pools[0].id, std::string("a-h100"));
    }

    void anotherPoolStandsBeside()
    {
        Pool dear = pool("a-h100", 2);
        dear.usdPerGpuHour = 9;
        const Cluster next = *withPool(two(), 0, dear);
        QCOMPARE(next.datacenters[0].pools.size(), 2U);
        QVERIFY(next.datacenters[0].pools[1].id != "a-h100");
        QVERIFY(!withPool(two(), 0, pool("x", 0)));
        QVERIFY(!withPool(two(), 5, pool("x", 1)));
    }

    void aPoolIsTakenOut()
    {
        QVERIFY(withoutPool(two(), 0, 0)->datacenters[0].pools.empty());
        QVERIFY(!withoutPool(two(), 0, 1));
        QVERIFY(!withoutPool(two(), 9, 0));
    }

    void oneLinkForAPair()
    {
        WanLink link;
        link.between = { "b", "a" };
        link.rttMs = 33;
        const Cluster next = *withWanLink(two(), link);
        QCOMPARE(next.wanLinks.size(), 1U);
        QCOMPARE(next.wanLinks[0].rttMs, 33.0);
        QVERIFY(withoutWanLink(next, 0)->wanLinks.empty());
        QVERIFY(!withoutWanLink(next, 1));
        link.between = { "a", "a" };
        QVERIFY(!withWanLink(two(), link));
        link.between = { "a", "z" };
        QCOMPARE(withWanLink(two(), link).error().code, ErrorCode::UnknownName);
    }
};

TRAINYARD_APPLESS_TEST(TstClusterEdits)
#include "tst_cluster_edits.moc"
