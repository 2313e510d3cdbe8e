// SPDX-License-Identifier: GPL-3.0-or-later
// A datacenter is dragged over the map with a real mouse: its coordinates and the round trips of its links follow,
// live, as one step that Esc, undo and Shift take back or leave out.
#include "tests/support/test_program.h"
#include "tests/support/told.h"
#include "tests/views/cluster/map_fixtures.h"
#include "views/cluster/cluster_map.h"
#include "views/cluster/map_edits.h"
#include "views/cluster/map_projection.h"

#include <QMouseEvent>
#include <QTest>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

enum Island { Oregon, Iowa, Virginia };

struct Hand {
    explicit Hand(const Plan &start)
        : plan(std::make_shared<const Plan>(start))
    {
        map.resize(1100, 420);
        show(plan);
        map.show();
        (void)QTest::qWaitForWindowExposed(&map);
        QObject::connect(&map, &ClusterMap::editPreviewed, &map, [this](const PlanPtr &next, const QString &text) {
            previews.push_back(next);
            words = text;
        });
        QObject::connect(&map, &ClusterMap::editCommitted, &map, [this](const PlanPtr &next, const QString &text) {
            commits.push_back(next);
            words = text;
            show(next); // as the document does
        });
        QObject::connect(&map, &ClusterMap::editCancelled, &map, [this] { ++cancels; });
    }

    void show(const PlanPtr &next)
    {
        map.setShown(shownOf(next));
        map.setShown(test::told(next, dealt(next, 11.84)));
    }
    [[nodiscard]] QRectF frame(int island) const { return map.mapLayout().islands[std::size_t(island)].frame; }
    void drag(int island, QPoint by, Qt::KeyboardModifiers modifiers = {})
    {
        const QPoint from = frame(island).topLeft().toPoint() + QPoint(30, 8);
        QTest::mousePress(&map, Qt::LeftButton, modifiers, from);
        for (const QPoint at : { from + by / 2, from + by }) { // QTest::mouseMove knows no modifiers
            QMouseEvent move(QEvent::MouseMove, at, map.mapToGlobal(at), Qt::NoButton, Qt::LeftButton, modifiers);
            QApplication::sendEvent(&map, &move);
        }
        last = from + by;
    }
    void release() { QTest::mouseRelease(&map, Qt::LeftButton, {}, last); }

    PlanPtr plan;
    ClusterMap map;
    std::vector<PlanPtr> previews, commits;
    QString words;
    int cancels = 0;
    QPoint last;
};

double rule(const Plan &plan, int a, int b)
{
    const auto place = [&](int d) {
        return Place { *plan.cluster.datacenters[std::size_t(d)].latitude,
            *plan.cluster.datacenters[std::size_t(d)].longitude };
    };
    return 8 + 2 * greatCircleKm(place(a), place(b)) * 1.3 / (2.0 / 3 * 299.792458);
}

double tenths(double ms)
{
    return std::round(ms * 10) / 10;
}

} // namespace

class MovePlaceTest : public QObject {
    Q_OBJECT
private slots:
    void roundTripsFollowWhileTheDatacenterIsDragged()
    {
        Hand hand(threeRegions(6));
        hand.drag(Iowa, { -60, 0 });
        QCOMPARE(hand.previews.size(), std::size_t(2)); // one a move
        const Plan &next = *hand.previews.back();
        QVERIFY(*next.cluster.datacenters[Iowa].longitude
            < *hand.plan->cluster.datacenters[Iowa].longitude - 1); // west is left
        QCOMPARE(*next.cluster.datacenters[Iowa].latitude, *hand.plan->cluster.datacenters[Iowa].latitude);
        // links: 0 Virginia - Iowa, 1 Iowa - Oregon; 28 and 36 ms are stated, and change by what the rule changes
        QCOMPARE(
            next.cluster.wanLinks[0].rttMs, tenths(28 + rule(next, Virginia, Iowa) - rule(*hand.plan, Virginia, Iowa)));
        QCOMPARE(
            next.cluster.wanLinks[1].rttMs, tenths(36 + rule(next, Iowa, Oregon) - rule(*hand.plan, Iowa, Oregon)));
        QVERIFY(next.cluster.wanLinks[0].rttMs > 28);
        QVERIFY(next.cluster.wanLinks[1].rttMs < 36);
        QVERIFY(hand.commits.empty());
        hand.release();
        QCOMPARE(hand.commits.size(), std::size_t(1));
        QCOMPARE(*hand.commits[0], next);
        QVERIFY2(hand.words.startsWith("Move Iowa ") && hand.words.contains(" km, round trip to Virginia 28 → "),
            qPrintable(hand.words));
    }

    void aShortDragOfALongStatedRoundTripChangesItALittle()
    {
        Plan plan = threeRegions(6);
        plan.cluster.wanLinks[0].rttMs = 406.9;
        Hand hand(plan);
        hand.drag(Iowa, { 15, 0 });
        hand.release();
        const double step = rule(*hand.commits.back(), Virginia, Iowa) - rule(plan, Virginia, Iowa);
        QVERIFY(step < -0.5);
        QCOMPARE(hand.commits.back()->cluster.wanLinks[0].rttMs, tenths(406.9 + step));
    }

    void aPixelIsWorthTheSameKilometresEverywhere()
    {
        Hand hand(threeRegions(6));
        const auto centre = [&](int i) { return hand.frame(i).center(); };
        const auto place = [&](int i) { return *placeOf(hand.plan->cluster.datacenters[std::size_t(i)]); };
        const QPointF way = centre(Oregon) - centre(Virginia);
        const double kmPerPixel = greatCircleKm(place(Oregon), place(Virginia)) / std::hypot(way.x(), way.y());
        hand.drag(Iowa, { 0, 50 });
        const Place moved = *placeOf(hand.previews.back()->cluster.datacenters[Iowa]);
        QVERIFY(std::abs(greatCircleKm(place(Iowa), moved) - 50 * kmPerPixel) < 1e-3 * 50 * kmPerPixel);
        QVERIFY(moved.latitude < place(Iowa).latitude); // south is down
        hand.release();
    }

    void theIslandStaysWhereItWasLeftAndUndoBringsItBack()
    {
        Hand hand(threeRegions(6));
        const QRectF before = hand.frame(Iowa), oregon = hand.frame(Oregon);
        hand.drag(Iowa, { -20, 24 });
        hand.release();
        const QPointF step = hand.frame(Iowa).center() - before.center();
        QVERIFY2(std::abs(step.x() + 20) <= 1.5 && std::abs(step.y() - 24) <= 1.5,
            qPrintable(QStringLiteral("%1 %2").arg(step.x()).arg(step.y())));
        QCOMPARE(hand.frame(Oregon), oregon);
        hand.show(hand.plan); // undo
        QVERIFY(std::abs(hand.frame(Iowa).center().x() - before.center().x()) <= 1.5);
        QVERIFY(std::abs(hand.frame(Iowa).center().y() - before.center().y()) <= 1.5);
        hand.show(hand.commits.back()); // redo
        QVERIFY(std::abs(hand.frame(Iowa).center().x() - before.center().x() + 20) <= 1.5);
    }

    void shiftMovesOnlyThePicture()
    {
        Hand hand(threeRegions(6));
        const QRectF before = hand.frame(Iowa);
        hand.drag(Iowa, { -40, 0 }, Qt::ShiftModifier);
        hand.release();
        QVERIFY(hand.previews.empty() && hand.commits.empty());
        QCOMPARE(hand.frame(Iowa).left(), before.left() - 40);
    }

    void escapeTakesPictureAndPreviewBack()
    {
        Hand hand(threeRegions(6));
        const QRectF before = hand.frame(Iowa);
        hand.drag(Iowa, { -40, 0 });
        QVERIFY(!hand.previews.empty());
        QTest::keyClick(&hand.map, Qt::Key_Escape);
        QCOMPARE(hand.cancels, 1);
        hand.release();
        QVERIFY(hand.commits.empty());
        QVERIFY(std::abs(hand.frame(Iowa).center().x() - before.center().x()) <= 1.5);
    }

    void withoutALinkThereIsNoRoundTripToFollow()
    {
        Plan plan = threeRegions(6);
        plan.cluster.wanLinks.clear();
        Hand hand(plan);
        hand.drag(Iowa, { -40, 0 });
        hand.release();
        QVERIFY(hand.previews.empty() && hand.commits.empty());
    }
};

TRAINYARD_TEST(MovePlaceTest)
#include "tst_move_place.moc"
