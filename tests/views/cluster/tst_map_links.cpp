// SPDX-License-Identifier: GPL-3.0-or-later
// Links on the map: each label lies on its own line, off every island and every other line and label, none vanishes,
// and what carries nothing shows only while someone asks.
#include "tests/support/test_program.h"
#include "tests/support/told.h"
#include "tests/views/cluster/map_hand.h"
#include "views/cluster/link_scene.h"
#include "views/cluster/map_painter.h"
#include "views/details/details.h"

#include <QSignalSpy>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

double distanceTo(const LinkLayout &link, QPointF at)
{
    double nearest = 1e9;
    for (int i = 0; i <= 400; ++i) {
        const QPointF d = pointOnLink(link, i / 400.0) - at;
        nearest = std::min(nearest, std::hypot(d.x(), d.y()));
    }
    return nearest;
}

Plan manyRegions(int count)
{
    static constexpr std::array<std::pair<double, double>, 12> places { { { 45.8, -119.7 }, { 41.6, -93.6 },
        { 36.7, -78.4 }, { 43.7, -79.4 }, { -23.6, -46.6 }, { 53.3, -6.3 }, { 50.1, 8.7 }, { 60.7, 17.1 },
        { 19.1, 72.9 }, { 1.3, 103.8 }, { 35.7, 139.8 }, { -33.9, 151.2 } } };
    Plan plan;
    for (int i = 0; i < count; ++i)
        plan.cluster.datacenters.push_back(datacenter("Region number " + std::to_string(i + 1),
            places[std::size_t(i)].first, places[std::size_t(i)].second, { pool("p" + std::to_string(i), 24) }));
    for (int i = 0; i < count; ++i) {
        for (int j = i + 1; j < count; ++j)
            plan.cluster.wanLinks.push_back(link(
                plan.cluster.datacenters[std::size_t(i)].id, plan.cluster.datacenters[std::size_t(j)].id, 30, 400));
    }
    plan.parallelism.tensor = 8;
    plan.parallelism.pipeline = count;
    return plan;
}

/// As `dealt`, with traffic only between neighbours of the list.
EvaluationPtr neighboursTalk(const PlanPtr &plan)
{
    auto evaluation = std::make_shared<Evaluation>(*dealt(plan, 12));
    for (WanLinkUse &use : evaluation->metrics.wanLinks) {
        const auto &ends = plan->cluster.wanLinks[std::size_t(use.link)].between;
        if (plan->cluster.indexOf(ends[1]) - plan->cluster.indexOf(ends[0]) > 1)
            use.bytes = {};
    }
    return evaluation;
}

} // namespace

class MapLinksTest : public QObject {
    Q_OBJECT

private slots:
    void everyLabelLiesOnItsOwnLineAndHidesNothing_data()
    {
        QTest::addColumn<int>("regions");
        QTest::addColumn<QSize>("size");
        for (const int regions : { 3, 6, 12 }) {
            for (const QSize size : { QSize(846, 215), QSize(980, 280), QSize(1900, 540) })
                QTest::addRow("%d regions %dx%d", regions, size.width(), size.height()) << regions << size;
        }
    }
    void everyLabelLiesOnItsOwnLineAndHidesNothing()
    {
        QFETCH(int, regions);
        QFETCH(QSize, size);
        const auto plan = std::make_shared<const Plan>(manyRegions(regions));
        const MapScene scene = buildScene(*plan, neighboursTalk(plan).get());
        const MapLayout layout =
            layOutMap(measureScene(scene, *plan), QRectF(QPointF(12, 34), QSizeF(size) - QSizeF(24, 46)));
        int shown = 0;
        for (std::size_t l = 0; l < layout.links.size(); ++l) {
            const LinkLayout &link = layout.links[l];
            QCOMPARE(link.visible, scene.links[l].isResting);
            if (!link.visible)
                continue;
            ++shown;
            QVERIFY2(!link.card.isEmpty(), "no label vanishes");
            QVERIFY2(distanceTo(link, link.card.center()) <= 2, "a label lies on its own line");
            for (const IslandLayout &island : layout.islands)
                QVERIFY2(!link.card.intersects(island.frame), qPrintable(scene.links[l].name));
            for (std::size_t other = 0; other < layout.links.size(); ++other)
                QVERIFY(other == l || !layout.links[other].visible || !link.card.intersects(layout.links[other].card));
        }
        QCOMPARE(shown, regions == 3 ? 3 : regions - 1); // of three links that which carries nothing is shown, too
    }

    void noLabelOfAFewLinksLiesOnAnothersLine()
    {
        const auto plan = std::make_shared<const Plan>(manyRegions(4));
        const MapScene scene = buildScene(*plan, dealt(plan, 12).get()); // all six links are used
        const MapLayout layout = layOutMap(measureScene(scene, *plan), QRectF(12, 34, 896, 300));
        for (std::size_t l = 0; l < layout.links.size(); ++l) {
            for (std::size_t other = 0; other < layout.links.size(); ++other) {
                if (other == l)
                    continue;
                for (int i = 0; i <= 200; ++i)
                    QVERIFY2(!layout.links[l].card.contains(pointOnLink(layout.links[other], i / 200.0)),
                        qPrintable(scene.links[l].name + u'/' + scene.links[other].name));
            }
        }
    }

    /// Three sites with a link that was just typed between two of them: it is there, and says that nothing uses it.
    void oneOfAFewLinksIsShownThoughNothingUsesIt()
    {
        Hand hand(manyRegions(3), { 980, 300 });
        hand.map.setShown(test::told(hand.plan, neighboursTalk(hand.plan)));
        const auto &sites = hand.plan->cluster.datacenters;
        const int unused = hand.plan->cluster.linkBetween(sites[0].id, sites[2].id);
        QVERIFY(hand.map.mapLayout().links[std::size_t(unused)].visible);
        const MapScene scene = buildScene(*hand.plan, neighboursTalk(hand.plan).get());
        QCOMPARE(scene.links[std::size_t(unused)].foot, QStringLiteral("not used"));
    }

    void aLinkThatCarriesNothingShowsWhileItsDatacenterIsLookedAt()
    {
        const Plan plan = manyRegions(6);
        Hand hand(plan, { 980, 300 });
        hand.map.setShown(test::told(hand.plan, neighboursTalk(hand.plan)));
        const int direct =
            hand.plan->cluster.linkBetween(plan.cluster.datacenters[0].id, plan.cluster.datacenters[4].id);
        const auto visible = [&] { return hand.map.mapLayout().links[std::size_t(direct)].visible; };
        QVERIFY(!visible());
        QTest::mouseMove(&hand.map, hand.frame(0).center().toPoint());
        QVERIFY(visible());
        const LinkLayout link = hand.map.mapLayout().links[std::size_t(direct)];
        QPoint on = pointOnLink(link, 0.5).toPoint();
        for (int i = 1; i < 20 && hitTest(hand.map.mapLayout(), on).link != direct; ++i)
            on = pointOnLink(link, i / 20.0).toPoint();
        QCOMPARE(hitTest(hand.map.mapLayout(), on).link, direct);
        QTest::mouseMove(&hand.map, on); // onto the line itself: it stays, and says what it is
        QVERIFY(visible());
        QTest::mouseClick(&hand.map, Qt::LeftButton, {}, on);
        QTest::mouseMove(&hand.map, hand.sea());
        QVERIFY(visible()); // selected
        QVERIFY(!hand.map.mapLayout().links[std::size_t(direct)].card.isEmpty());
        hand.key(Qt::Key_Escape);
        QTest::mouseMove(&hand.map, hand.sea() + QPoint(1, 0));
        QVERIFY(!visible());
    }

    void tabReachesALinkThatCarriesNothing()
    {
        Hand hand(manyRegions(3), { 980, 300 });
        hand.map.setShown(test::told(hand.plan, neighboursTalk(hand.plan)));
        hand.map.setFocus();
        for (int i = 0; i < 12
             && !hand.map.accessibleDescription().startsWith(QStringLiteral("Link Region number 1 – Region number 3"));
             ++i)
            hand.key(Qt::Key_Tab);
        QVERIFY(hand.map.accessibleDescription().startsWith(QStringLiteral("Link Region number 1 – Region number 3")));
        QVERIFY(hand.map.mapLayout().links[1].visible);
    }

    void theBindingLimitIsNamed_data()
    {
        QTest::addColumn<double>("pair");
        QTest::addColumn<double>("capacity");
        QTest::addColumn<double>("reached");
        QTest::addColumn<double>("use");
        QTest::addColumn<QString>("name");
        QTest::newRow("a node pair gets all that it may") << 5.0 << 400.0 << 4.95 << 0.1 << QStringLiteral("node pair");
        QTest::newRow("connections stop short of it") << 25.0 << 400.0 << 12.0 << 0.1 << QStringLiteral("TCP window");
        QTest::newRow("the link is full") << 5.0 << 400.0 << 4.95 << 0.99 << QStringLiteral("link capacity");
        QTest::newRow("the link is narrower than a pair")
            << 25.0 << 10.0 << 10.0 << 0.5 << QStringLiteral("link capacity");
    }
    void theBindingLimitIsNamed()
    {
        QFETCH(double, pair);
        QFETCH(double, capacity);
        QFETCH(double, reached);
        QFETCH(double, use);
        WanLink wan = link("a", "b", 30, capacity);
        wan.nodePairGbps = pair;
        WanLinkUse used;
        used.utilization = use;
        used.nodePairGbps = reached;
        QTEST(bindingLimit(wan, used).name, "name");
    }

    void aPairThatWasMeasuredIsSaidToBe()
    {
        const auto plan = std::make_shared<const Plan>(manyRegions(2));
        auto evaluation = std::make_shared<Evaluation>(*neighboursTalk(plan));
        const auto perPair = [&] {
            const MapScene scene = buildScene(*plan, evaluation.get());
            const QString card = linkCard(scene, *plan, evaluation.get(), 0).join(u'\n');
            return std::pair(card, linkDetails(*evaluation, 0));
        };
        WanLinkUse &use = evaluation->metrics.wanLinks.front();
        use.nodePairGbps = 4.25;
        QVERIFY(perPair().first.contains(QStringLiteral("Gbps per node pair\n"))); // as the link states
        use.isMeasured = true;
        QVERIFY2(perPair().first.contains(QStringLiteral("4.25 Gbps per node pair, measured between these zones")),
            qPrintable(perPair().first));
        const auto &facts = perPair().second.facts;
        QVERIFY(std::ranges::any_of(facts, [](const auto &fact) { return fact.value.endsWith(u", measured"); }));
    }
};

TRAINYARD_TEST(MapLinksTest)
#include "tst_map_links.moc"
