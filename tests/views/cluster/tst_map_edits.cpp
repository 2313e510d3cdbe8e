// SPDX-License-Identifier: GPL-3.0-or-later
// Gestures as edits: GPUs go where they were dropped, none is lost, and the words say what happened.
#include "tests/support/test_program.h"
#include "tests/views/cluster/map_fixtures.h"
#include "views/cluster/map_edits.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

PlanPtr shared(Plan plan)
{
    return std::make_shared<const Plan>(std::move(plan));
}

Carry nodes(int datacenter, int pool, int first, int count)
{
    return { { { datacenter, pool, first * 8, count * 8 } }, datacenter, 0 };
}

std::vector<int> gpusOf(const Plan &plan)
{
    std::vector<int> gpus;
    for (const Datacenter &d : plan.cluster.datacenters)
        gpus.push_back(d.gpus());
    return gpus;
}

} // namespace

class MapEditsTest : public QObject {
    Q_OBJECT

private slots:
    void aNodeMovesInWords()
    {
        const auto edit = moveEdit(shared(threeRegions()), nodes(0, 0, 3, 1), 1);
        QVERIFY(edit);
        QCOMPARE(edit->text, QStringLiteral("Move 8 GPUs Oregon → Iowa"));
        QCOMPARE(gpusOf(*edit->next), (std::vector { 184, 200, 192 }));
    }

    void aSingleGpuMoves()
    {
        const auto edit = moveEdit(shared(threeRegions()), { { { 0, 0, 13, 1 } }, 0, 0 }, 2);
        QVERIFY(edit);
        QCOMPARE(edit->text, QStringLiteral("Move 1 GPU Oregon → Virginia"));
        QCOMPARE(gpusOf(*edit->next), (std::vector { 191, 192, 193 }));
    }

    void aDropAtHomeIsNoEdit()
    {
        QVERIFY(!moveEdit(shared(threeRegions()), nodes(1, 0, 0, 2), 1));
        QVERIFY(!moveEdit(shared(threeRegions()), {}, 1));
        QVERIFY(!moveEdit(shared(threeRegions()), nodes(1, 0, 0, 2), -1));
    }

    void piecesOfSeveralIslandsMoveTogetherAndNothingIsLost()
    {
        const PlanPtr plan = shared(threeRegions());
        Carry carry;
        carry.what = { { 0, 0, 0, 8 }, { 0, 0, 40, 3 }, { 2, 0, 8, 16 }, { 1, 0, 0, 8 } };
        const auto edit = moveEdit(plan, carry, 1);
        QVERIFY(edit);
        QCOMPARE(edit->text, QStringLiteral("Move 27 GPUs → Iowa")); // Iowa's own eight stay
        QCOMPARE(gpusOf(*edit->next), (std::vector { 181, 219, 176 }));
        QCOMPARE(edit->next->cluster.gpus(), plan->cluster.gpus());
    }

    void anAmountOfAnIslandMoves()
    {
        const auto edit = moveEdit(shared(threeRegions()), { {}, 2, 24 }, 0);
        QVERIFY(edit);
        QCOMPARE(gpusOf(*edit->next), (std::vector { 216, 192, 168 }));
    }

    void stepsGoByGpusInsideANodeAndByNodesAbove()
    {
        const Cluster cluster = threeRegions(3).cluster;
        Carry carry = nodes(0, 0, 0, 1);
        QCOMPARE(steppedAmount(carry, cluster, 1), 16);
        QCOMPARE(steppedAmount(carry, cluster, -1), 7);
        carry = resized(carry, cluster, 24);
        QCOMPARE(carry.gpus(), 24);
        QCOMPARE(steppedAmount(carry, cluster, 1), 24); // all it has
        QCOMPARE(resized(carry, cluster, 1000).gpus(), 24);
        QCOMPARE(resized(nodes(0, 0, 2, 1), cluster, 16).what.front().firstGpu, 8); // grows backwards at the end
    }

    void removingNamesWhatGoes()
    {
        const PlanPtr plan = shared(threeRegions());
        const auto node = removeEdit(plan, { { MapItem::Kind::Gpus, 0, 0, 8, 8, -1 } });
        QVERIFY(node);
        QCOMPARE(node->text, QStringLiteral("Remove 8 GPUs from Oregon"));
        QCOMPARE(gpusOf(*node->next), (std::vector { 184, 192, 192 }));
        const auto site = removeEdit(plan, { { MapItem::Kind::Island, 1 } });
        QVERIFY(site);
        QCOMPARE(site->text, QStringLiteral("Remove Iowa"));
        QCOMPARE(site->next->cluster.datacenters.size(), std::size_t(2));
        QVERIFY(site->next->cluster.wanLinks.empty()); // both links ended there
        const auto link = removeEdit(plan, { { MapItem::Kind::Link, -1, -1, 0, 0, 0 } });
        QVERIFY(link);
        QCOMPARE(link->text, QStringLiteral("Remove link Virginia – Iowa"));
        QVERIFY(!removeEdit(plan, {}));
    }
};

TRAINYARD_APPLESS_TEST(MapEditsTest)
#include "tst_map_edits.moc"
