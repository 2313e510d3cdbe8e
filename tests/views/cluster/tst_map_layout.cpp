// SPDX-License-Identifier: GPL-3.0-or-later
// Geometry of the map: islands never overlap, everything lies inside what holds it, and pointing finds what was drawn.
#include "tests/support/test_program.h"
#include "views/cluster/map_layout.h"

#include <QTest>

#include <random>

using namespace trainyard;

namespace {

const QSizeF kSizes[] = { { 900, 240 }, { 1800, 660 }, { 600, 180 }, { 340, 120 }, { 400, 900 } };

MapSpec randomSpec(std::mt19937 &dice, bool placed)
{
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(dice); };
    MapSpec spec;
    const int islands = pick(1, 9);
    for (int i = 0; i < islands; ++i) {
        IslandSpec island;
        if (placed)
            island.place = QPointF(pick(-180, 180), pick(-60, 70));
        island.minWidth = pick(120, 220);
        const int groups = pick(0, 3);
        int pool = 0;
        for (int g = 0; g < groups; ++g) {
            GroupSpec group;
            for (int p = pick(1, 2); p > 0; --p)
                group.pools.push_back({ pool++, pick(1, 40), pick(1, 8) });
            island.groups.push_back(group);
        }
        spec.islands.push_back(island);
    }
    for (int i = 0; i + 1 < islands; ++i)
        spec.links.push_back({ i, i + 1, { 100, 40 }, { 40, 18 } });
    return spec;
}

MapSpec threeIslands(int nodes)
{
    MapSpec spec;
    for (const QPointF &place : { QPointF(-121, 45), QPointF(-96, 41), QPointF(-77, 39) }) {
        IslandSpec island;
        island.place = place;
        island.minWidth = 160;
        island.groups = { { { { 0, nodes, 8 } }, 60 } };
        spec.islands.push_back(island);
    }
    spec.links = { { 0, 1, { 100, 40 }, { 40, 18 } }, { 1, 2, { 100, 40 }, { 40, 18 } } };
    return spec;
}

} // namespace

class MapLayoutTest : public QObject {
    Q_OBJECT

private slots:
    void islandsNeverOverlapAndStayInside()
    {
        std::mt19937 dice(7);
        for (int round = 0; round < 120; ++round) {
            const MapSpec spec = randomSpec(dice, round % 2 == 0);
            for (const QSizeF &size : kSizes) {
                const QRectF area(QPointF(12, 34), size);
                const MapLayout layout = layOutMap(spec, area);
                QCOMPARE(layout.islands.size(), spec.islands.size());
                for (std::size_t i = 0; i < layout.islands.size(); ++i) {
                    QVERIFY(area.adjusted(-1, -1, 1, 1).contains(layout.islands[i].frame));
                    for (std::size_t j = i + 1; j < layout.islands.size(); ++j)
                        QVERIFY(!layout.islands[i].frame.intersects(layout.islands[j].frame));
                }
            }
        }
    }

    void everyGpuLiesInItsNodeAndEveryNodeInItsIsland()
    {
        const MapLayout layout = layOutMap(threeIslands(24), { 0, 0, 930, 240 });
        QCOMPARE(layout.detail, MapDetail::Gpus);
        for (int island = 0; island < 3; ++island) {
            for (int gpu = 0; gpu < 192; ++gpu) {
                const QRectF node = nodeRect(layout, island, 0, gpu / 8);
                QVERIFY(node.contains(gpuRect(layout, island, 0, gpu)));
                QVERIFY(layout.islands[std::size_t(island)].frame.contains(node));
            }
        }
    }

    void pointingAtAGpuFindsThatGpu()
    {
        const MapLayout layout = layOutMap(threeIslands(24), { 0, 0, 930, 240 });
        for (int gpu = 0; gpu < 192; ++gpu) {
            const MapHit hit = hitTest(layout, gpuRect(layout, 1, 0, gpu).center());
            QCOMPARE(hit, (MapHit { MapHit::Kind::Gpu, 1, 0, gpu, -1 }));
        }
    }

    void pointingAtANodesFrameFindsTheNode()
    {
        const MapLayout layout = layOutMap(threeIslands(24), { 0, 0, 930, 240 });
        const MapHit hit = hitTest(layout, nodeRect(layout, 2, 0, 5).topLeft() + QPointF(0.5, 0.5));
        QCOMPARE(hit, (MapHit { MapHit::Kind::Node, 2, 0, 40, -1 }));
    }

    void titleLabelLinkAndSeaAreFound()
    {
        const MapLayout layout = layOutMap(threeIslands(24), { 0, 0, 930, 240 });
        const IslandLayout &island = layout.islands[0];
        QCOMPARE(hitTest(layout, island.frame.topLeft() + QPointF(30, 8)).kind, MapHit::Kind::Title);
        QCOMPARE(hitTest(layout, island.groups[0].label.center()).kind, MapHit::Kind::Pool);
        QCOMPARE(hitTest(layout, handlePoints(island.frame)[1]).kind, MapHit::Kind::Handle);
        QCOMPARE(hitTest(layout, layout.links[1].card.center()), (MapHit { MapHit::Kind::Link, -1, -1, -1, 1 }));
        QCOMPARE(hitTest(layout, { 929, 1 }).kind, MapHit::Kind::None);
    }

    void westIsLeftAndNorthIsUp()
    {
        const MapLayout layout = layOutMap(threeIslands(8), { 0, 0, 1200, 500 });
        for (int i = 0; i < 2; ++i) {
            const QPointF here = layout.islands[std::size_t(i)].frame.center(),
                          east = layout.islands[std::size_t(i + 1)].frame.center();
            QVERIFY(here.x() < east.x());
            QVERIFY(here.y() < east.y());
        }
    }

    void sixteenThousandGpusShowAsNodesAndStillHit()
    {
        const MapLayout layout = layOutMap(threeIslands(683), { 0, 0, 930, 240 });
        QCOMPARE(layout.detail, MapDetail::Nodes);
        QCOMPARE(
            hitTest(layout, nodeRect(layout, 0, 0, 500).center()), (MapHit { MapHit::Kind::Node, 0, 0, 4000, -1 }));
    }

    void aTinyMapFallsBackToBarsWhoseLengthCountsGpus()
    {
        const MapLayout layout = layOutMap(threeIslands(683), { 0, 0, 480, 140 });
        QCOMPARE(layout.detail, MapDetail::Bars);
        // 683 nodes share the bar: node 341 lies at its middle.
        const QRectF bar = layout.islands[0].groups[0].grid;
        QVERIFY(std::abs(nodeRect(layout, 0, 0, 341).center().x() - bar.center().x()) < 1);
        QCOMPARE(hitTest(layout, bar.center()).gpu, 341 * 8);
    }

    void cardsHideNoIsland()
    {
        const MapLayout layout = layOutMap(threeIslands(24), { 0, 0, 930, 240 });
        for (const LinkLayout &link : layout.links) {
            QVERIFY(link.visible && !link.card.isEmpty());
            for (const IslandLayout &island : layout.islands)
                QVERIFY(!link.card.intersects(island.frame));
        }
    }

    void aLinkBendsAroundTheIslandBetween()
    {
        MapSpec spec = threeIslands(8);
        for (IslandSpec &island : spec.islands)
            island.place->setY(40);
        spec.links = { { 0, 2, { 100, 40 }, { 40, 18 } } };
        const MapLayout layout = layOutMap(spec, { 0, 0, 1000, 400 });
        for (int step = 0; step <= 20; ++step)
            QVERIFY(!layout.islands[1].frame.contains(pointOnLink(layout.links[0], step / 20.0)));
    }

    void aPinnedIslandStaysWhereItWasPut()
    {
        MapSpec spec = threeIslands(8);
        const QRectF area(0, 0, 1200, 500);
        spec.islands[0].pinned = QPointF(0.5, 0.5);
        const QRectF frame = layOutMap(spec, area).islands[0].frame;
        QVERIFY((frame.center() - area.center()).manhattanLength() <= 2);
    }

    void aPreviewKeepsTheOtherFramesAndNeverOverlaps()
    {
        const MapLayout kept = layOutMap(threeIslands(24), { 0, 0, 930, 240 });
        MapSpec spec = threeIslands(24);
        spec.islands[0].groups[0].pools[0].nodes = 16;
        spec.islands[1].groups[0].pools[0].nodes = 32;
        const MapLayout preview = refillMap(spec, kept);
        QCOMPARE(preview.islands[0].frame, kept.islands[0].frame);
        QCOMPARE(preview.islands[2].frame, kept.islands[2].frame);
        QCOMPARE(preview.islands[1].frame.width(), kept.islands[1].frame.width());
        QVERIFY(preview.islands[1].frame.contains(nodeRect(preview, 1, 0, 31)));
        QVERIFY(!preview.islands[1].frame.intersects(preview.islands[2].frame));
    }
};

TRAINYARD_APPLESS_TEST(MapLayoutTest)
#include "tst_map_layout.moc"
