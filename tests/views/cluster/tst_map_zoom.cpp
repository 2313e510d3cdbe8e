// SPDX-License-Identifier: GPL-3.0-or-later
// Zooming and panning the map with wheel, buttons and keys: what is under the pointer stays there, and drags and clicks
// find what is drawn at every zoom.
#include "tests/support/test_program.h"
#include "tests/views/cluster/map_hand.h"

#include <QContextMenuEvent>
#include <QImage>
#include <QMenu>
#include <QSignalSpy>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

/// Where in an island a point lies, as shares of its frame.
QPointF shareOf(QPointF at, const QRectF &frame)
{
    return { (at.x() - frame.left()) / frame.width(), (at.y() - frame.top()) / frame.height() };
}

} // namespace

class MapZoomTest : public QObject {
    Q_OBJECT

private slots:
    void controlAndWheelZoomAtThePointer()
    {
        Hand hand(threeRegions());
        const QPoint at = hand.frame(Iowa).center().toPoint() + QPoint(20, 10);
        const QPointF before = shareOf(at, hand.frame(Iowa));
        const double width = hand.frame(Iowa).width();
        hand.wheel(at, 4, Qt::ControlModifier);
        // Four notches of 1.2 each.
        QVERIFY(std::abs(hand.frame(Iowa).width() / width - std::pow(1.2, 4)) < 0.01);
        const QPointF after = shareOf(at, hand.frame(Iowa));
        QVERIFY(std::abs(after.x() - before.x()) < 0.01 && std::abs(after.y() - before.y()) < 0.01);
        hand.wheel(at, -4, Qt::ControlModifier);
        QVERIFY(!hand.map.view().isZoomed());
        QCOMPARE(hand.frame(Iowa).width(), width);
    }

    void theGroundAlwaysCoversWhatIsShown()
    {
        Hand hand(threeRegions());
        hand.wheel({ 200, 120 }, 6, Qt::ControlModifier);
        for (const QPoint to : { QPoint(900, 280), QPoint(20, 60), QPoint(900, 60), QPoint(20, 280) }) {
            hand.drag({ 450, 160 }, to, Qt::MiddleButton);
            QVERIFY(hand.map.mapLayout().area.adjusted(-0.01, -0.01, 0.01, 0.01).contains(hand.map.mapLayout().shown));
        }
    }

    void theMiddleButtonPansByWhatThePointerMoves()
    {
        Hand hand(threeRegions());
        hand.wheel(hand.frame(Iowa).center().toPoint(), 4, Qt::ControlModifier);
        const QPointF before = hand.frame(Iowa).center();
        hand.drag({ 450, 160 }, { 490, 145 }, Qt::MiddleButton);
        const QPointF moved = hand.frame(Iowa).center() - before;
        QVERIFY2(std::abs(moved.x() - 40) <= 1 && std::abs(moved.y() + 15) <= 1,
            qPrintable(QStringLiteral("%1 %2").arg(moved.x()).arg(moved.y())));
        QVERIFY(hand.previews.empty() && hand.commits.empty());
    }

    void emptyGroundPansWhereThereIsMoreToSeeAndSelectsWhereThereIsNot()
    {
        Hand hand(threeRegions());
        const QSignalSpy selected(&hand.map, &ClusterMap::selectionChanged);
        hand.wheel(hand.frame(Iowa).center().toPoint(), 4, Qt::ControlModifier);
        const QPoint ground = QPointF(hand.frame(Iowa).right() + 8, hand.frame(Iowa).top() + 8).toPoint();
        QCOMPARE(hitTest(hand.map.mapLayout(), ground).kind, MapHit::Kind::None);
        const QPointF before = hand.frame(Iowa).center();
        hand.drag(ground, ground - QPoint(60, 0));
        QVERIFY(std::abs(hand.frame(Iowa).center().x() - before.x() + 60) <= 1);
        QVERIFY(selected.isEmpty());
        hand.map.fit();
        const QRectF frame = hand.frame(Iowa);
        hand.drag(frame.topLeft().toPoint() - QPoint(6, -30), frame.center().toPoint());
        QVERIFY(!hand.map.selection().empty());
    }

    void aDragUnderZoomCarriesTheNodeThatIsDrawnThere()
    {
        Hand hand(threeRegions());
        hand.wheel(QPointF((hand.frame(Oregon).right() + hand.frame(Iowa).left()) / 2, hand.frame(Iowa).center().y())
                       .toPoint(),
            3, Qt::ControlModifier);
        hand.press(hand.node(Oregon, 11) + QPoint(1, 1));
        QCOMPARE(hitTest(hand.map.mapLayout(), hand.node(Oregon, 11) + QPoint(1, 1)).gpu, 88);
        const QRectF iowa = hand.frame(Iowa).intersected(hand.map.mapLayout().shown);
        hand.moveTo(iowa.center().toPoint());
        QCOMPARE(Hand::gpusOf(hand.previews.back()), (std::vector { 184, 200, 192 }));
        hand.release();
        QCOMPARE(hand.words, QStringLiteral("Move 8 GPUs Oregon → Iowa"));
    }

    void aDraggedIslandKeepsThePointWhereItWasTakenAlsoUnderZoom_data()
    {
        QTest::addColumn<int>("notches");
        QTest::newRow("all") << 0;
        QTest::newRow("zoomed") << 3;
    }
    void aDraggedIslandKeepsThePointWhereItWasTakenAlsoUnderZoom()
    {
        QFETCH(int, notches);
        Hand hand(threeRegions(6), { 1100, 420 });
        QObject::connect(&hand.map, &ClusterMap::editCommitted, &hand.map,
            [&](const PlanPtr &next) { hand.map.setShown(shownOf(next)); });
        if (notches)
            hand.wheel(hand.frame(Iowa).center().toPoint(), notches, Qt::ControlModifier);
        const QPoint grab(40, 9);
        const QPoint from = hand.frame(Iowa).topLeft().toPoint() + grab;
        const QRectF oregon = hand.frame(Oregon);
        hand.press(from);
        for (const QPoint step : { QPoint(3, 9), QPoint(14, 22), QPoint(33, 35), QPoint(60, 31), QPoint(20, 12) }) {
            hand.moveTo(from + step);
            // grab = pointer − corner, at every move
            QCOMPARE((QPointF(from + step) - hand.frame(Iowa).topLeft()).toPoint(), grab);
            QCOMPARE(hand.frame(Oregon), oregon);
        }
        hand.release();
        const QPointF corner = hand.frame(Iowa).topLeft();
        QVERIFY((QPointF(from + QPoint(20, 12) - grab) - corner).manhattanLength() <= 3);
    }

    void keysZoomAndHomeShowsAllAgain()
    {
        Hand hand(threeRegions());
        hand.map.setFocus();
        const double width = hand.frame(Iowa).width();
        hand.key(Qt::Key_Plus, 2);
        QVERIFY(std::abs(hand.frame(Iowa).width() / width - 2.25) < 0.02); // 1.5 each
        hand.key(Qt::Key_Minus);
        QVERIFY(std::abs(hand.frame(Iowa).width() / width - 1.5) < 0.02);
        hand.key(Qt::Key_Home);
        QCOMPARE(hand.frame(Iowa).width(), width);
    }

    void fZoomsToTheFocusedItemAndShowsAllTheSecondTime()
    {
        Hand hand(threeRegions(6), { 956, 420 });
        hand.map.setFocus();
        hand.key(Qt::Key_Tab); // Oregon
        hand.key(Qt::Key_F);
        QVERIFY(hand.map.view().isZoomed());
        QVERIFY(hand.map.mapLayout().shown.contains(hand.frame(Oregon)));
        hand.key(Qt::Key_F);
        QVERIFY(!hand.map.view().isZoomed());
    }

    void theFocusedItemComesIntoView()
    {
        Hand hand(threeRegions(6), { 956, 420 });
        hand.map.setFocus();
        hand.key(Qt::Key_Tab); // Oregon
        hand.key(Qt::Key_F);
        hand.key(Qt::Key_Right, 2); // Virginia
        QVERIFY(hand.map.accessibleDescription().startsWith(QStringLiteral("Virginia")));
        QVERIFY(hand.map.mapLayout().shown.intersects(hand.frame(Virginia)));
    }

    void aRightClickOnTheHeaderFindsNothingOfTheMapBeneath()
    {
        Hand hand(threeRegions());
        hand.wheel(hand.frame(Iowa).center().toPoint(), 8, Qt::ControlModifier);
        const QPoint header(hand.frame(Iowa).center().toPoint().x(), 4);
        QVERIFY(hitTest(hand.map.mapLayout(), header).kind != MapHit::Kind::None); // it reaches beneath
        QContextMenuEvent event(QContextMenuEvent::Mouse, header, hand.map.mapToGlobal(header));
        QApplication::sendEvent(&hand.map, &event);
        QVERIFY(hand.map.selection().empty());
        auto *menu = qobject_cast<QMenu *>(QApplication::activePopupWidget());
        QVERIFY(menu);
        menu->close();
    }

    void manyDatacentersShowTheirGpusWhenZoomed()
    {
        Plan plan;
        for (int d = 0; d < 30; ++d)
            plan.cluster.datacenters.push_back(
                datacenter("Site " + std::to_string(d), 0, 0, { pool("p" + std::to_string(d), 24) }));
        for (Datacenter &d : plan.cluster.datacenters)
            d.latitude = d.longitude = std::nullopt;
        plan.parallelism.pipeline = 30;
        Hand hand(plan, { 846, 215 });
        QCOMPARE(hand.map.mapLayout().detail, MapDetail::Tiles);
        hand.wheel(hand.frame(7).center().toPoint(), 12, Qt::ControlModifier);
        QCOMPARE(hand.map.mapLayout().detail, MapDetail::Gpus);
        QImage image(hand.map.size(), QImage::Format_ARGB32_Premultiplied);
        hand.map.render(&image);
        QVERIFY(!image.isNull());
    }

    void aCarryTakesTheWheelForHowManyAndControlStillZooms()
    {
        Hand hand(threeRegions());
        hand.press(hand.node(Oregon, 3));
        hand.moveTo(hand.on(Iowa));
        hand.wheel(hand.on(Iowa), 1);
        QCOMPARE(Hand::gpusOf(hand.previews.back()), (std::vector { 176, 208, 192 }));
        QVERIFY(!hand.map.view().isZoomed());
        QVERIFY(hand.map.isDragging());
        hand.wheel(hand.on(Iowa), 1, Qt::ControlModifier);
        QVERIFY2(hand.map.view().isZoomed(), qPrintable(QString::number(hand.map.view().zoom())));
        QVERIFY(hand.map.isDragging());
        hand.key(Qt::Key_Escape);
    }
};

TRAINYARD_TEST(MapZoomTest)
#include "tst_map_zoom.moc"
