// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/cluster/link_index.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include "tests/support/plans.h"

using namespace trainyard;
using namespace trainyard::test;

class TestLinkIndex : public QObject {
    Q_OBJECT

private slots:
    void itFindsTheLinksThatASearchByNameFinds();
    void namesThatNobodyHasJoinNothing();
};

void TestLinkIndex::itFindsTheLinksThatASearchByNameFinds()
{
    Cluster cluster;
    for (int d = 0; d < 20; ++d)
        cluster.datacenters.push_back(site("dc-" + std::to_string(d), 1));
    for (int a = 0; a < 20; ++a)
        for (int b = a + 1; b < 20; ++b)
            if ((a * 7 + b * 3) % 4 != 0)
                cluster.wanLinks.push_back((a + b) % 2 ? wanLink("dc-" + std::to_string(a), "dc-" + std::to_string(b))
                                                       : wanLink("dc-" + std::to_string(b), "dc-" + std::to_string(a)));
    const LinkIndex index(cluster);
    for (int a = 0; a < 20; ++a)
        for (int b = 0; b < 20; ++b)
            QCOMPARE(index.between(a, b), cluster.linkBetween("dc-" + std::to_string(a), "dc-" + std::to_string(b)));
}

void TestLinkIndex::namesThatNobodyHasJoinNothing()
{
    Cluster cluster;
    cluster.datacenters = { site("a", 1), site("b", 1), site("a", 1) };
    cluster.wanLinks = { wanLink("a", "nowhere"), wanLink("a", "b"), wanLink("b", "a") };
    const LinkIndex index(cluster);
    QCOMPARE(index.between(0, 1), 1); // the first of two
    QCOMPARE(index.between(1, 0), 1);
    QCOMPARE(index.between(2, 1), -1); // of two datacenters with one name the first has the link
    QCOMPARE(index.between(0, 7), -1);
    QCOMPARE(index.between(-1, 0), -1);
    QCOMPARE(LinkIndex().between(0, 1), -1);
}

TRAINYARD_APPLESS_TEST(TestLinkIndex)
#include "tst_link_index.moc"
