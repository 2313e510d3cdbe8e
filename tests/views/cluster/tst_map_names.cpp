// SPDX-License-Identifier: GPL-3.0-or-later
// However many datacenters there are and however long their names, each name stands in full on its island, and islands
// neither overlap nor move without need.
#include "core/facts/catalogue/catalogue.h"
#include "tests/support/test_program.h"
#include "tests/views/cluster/map_hand.h"
#include "views/cluster/cell_painter.h"
#include "views/cluster/map_painter.h"
#include "views/cluster/map_text.h"
#include "views/cluster/node_shape.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

/// As many datacenters as asked for, in regions of the catalogue and with their names.
Plan regionsOfTheCatalogue(int count, bool placed, bool isShort = false)
{
    Plan plan;
    const auto &regions = builtinCatalogue().regions;
    for (int i = 0; i < count; ++i) {
        const Region &region = regions[std::size_t(i) % regions.size()];
        Datacenter site =
            datacenter(isShort ? region.name.substr(0, region.name.find(' ')) + " " + std::to_string(i) : region.name,
                region.latitude, region.longitude, { pool("p" + std::to_string(i), 24) });
        site.id += std::to_string(i);
        if (!placed)
            site.latitude = site.longitude = std::nullopt;
        if (i > 0)
            plan.cluster.wanLinks.push_back(link(plan.cluster.datacenters.back().id, site.id, 30, 400));
        plan.cluster.datacenters.push_back(std::move(site));
    }
    plan.parallelism.tensor = 8;
    plan.parallelism.pipeline = count;
    return plan;
}

} // namespace

class MapNamesTest : public QObject {
    Q_OBJECT

private slots:
    void noNameIsCut_data()
    {
        QTest::addColumn<int>("count");
        QTest::addColumn<bool>("placed");
        QTest::addColumn<QSize>("size");
        for (const int count : { 1, 3, 12, 30 }) {
            for (const bool placed : { true, false }) {
                for (const QSize size : { QSize(846, 215), QSize(980, 280),
                         QSize(1740, 500) }) // of the map in windows of 1280, 1440 and 2560 pixels
                    QTest::addRow("%d %s %dx%d", count, placed ? "placed" : "in rows", size.width(), size.height())
                        << count << placed << size;
            }
        }
    }
    void noNameIsCut()
    {
        QFETCH(int, count);
        QFETCH(bool, placed);
        QFETCH(QSize, size);
        // Thirty names of up to 38 letters are more than a map of 846 × 215 pixels holds in full: there they are short
        // ones.
        const auto plan =
            std::make_shared<const Plan>(regionsOfTheCatalogue(count, placed, count == 30 && size.width() < 1000));
        const MapScene scene = buildScene(*plan, dealt(plan, 12).get());
        const QRectF area(QPointF(12, 34), QSizeF(size) - QSizeF(24, 46));
        const MapLayout layout = layOutMap(measureScene(scene, *plan), area);
        const MapFonts fonts;
        const bool isTile = layout.detail == MapDetail::Tiles;
        for (std::size_t i = 0; i < layout.islands.size(); ++i) {
            const QRectF frame = layout.islands[i].frame;
            const double width = frame.width() - 2 * (isTile ? kTilePad : kIslandTextPad);
            const QStringList lines =
                nameInLines(scene.islands[i].title, isTile ? fonts.tileMetrics : fonts.titleMetrics, width);
            QVERIFY2(!lines.join(QString()).contains(QChar(0x2026)), qPrintable(lines.join(u'|')));
            // Both lines stand above the hardware and inside the frame.
            const double bottom = frame.top() + (isTile ? kTileTop : 7)
                + double(lines.size()) * lineHeight(isTile ? fonts.tileMetrics : fonts.titleMetrics);
            QVERIFY(bottom <= frame.bottom());
            for (const GroupLayout &group : layout.islands[i].groups)
                QVERIFY(bottom <= group.grid.top() + 1);
            QVERIFY(area.adjusted(-1, -1, 1, 1).contains(frame));
            for (std::size_t j = i + 1; j < layout.islands.size(); ++j)
                QVERIFY(!frame.intersects(layout.islands[j].frame));
        }
    }

    void aNameIsBrokenBetweenWordsWhereThatWillDo()
    {
        const MapFonts fonts;
        const double width = twoLineWidth(QStringLiteral("Azure Germany West Central"), fonts.tileMetrics);
        QCOMPARE(nameInLines(QStringLiteral("Azure Germany West Central"), fonts.tileMetrics, width).size(), 2);
        QVERIFY(nameInLines(QStringLiteral("Azure Germany West Central"), fonts.tileMetrics, width)[0].endsWith(
            QStringLiteral("Germany")));
        const QString word(30, u'w');
        const QStringList halves = nameInLines(word, fonts.tileMetrics, twoLineWidth(word, fonts.tileMetrics));
        QCOMPARE(halves.join(QString()), word);
    }

    void newNumbersMoveNoIsland()
    {
        Hand hand(threeRegions());
        const auto before = hand.map.mapLayout().islands;
        auto next = std::make_shared<Evaluation>(*dealt(hand.plan, 9.5, 8));
        next->metrics.wanLinks[0].utilization = 1;
        hand.map.setShown(test::told(hand.plan, next));
        for (std::size_t i = 0; i < before.size(); ++i)
            QCOMPARE(hand.map.mapLayout().islands[i].frame, before[i].frame);
    }

    void aDatacenterStaysSelectedThroughAnEdit()
    {
        Hand hand(threeRegions(6));
        QTest::mouseClick(&hand.map, Qt::LeftButton, {}, hand.frame(Virginia).topLeft().toPoint() + QPoint(30, 8));
        QCOMPARE(hand.map.selection(), (MapSelection { { MapItem::Kind::Island, Virginia } }));
        Plan next = *hand.plan;
        next.cluster.datacenters.erase(next.cluster.datacenters.begin()); // Oregon
        hand.map.setShown(shownOf(std::make_shared<const Plan>(next)));
        QCOMPARE(hand.map.selection(), (MapSelection { { MapItem::Kind::Island, Virginia - 1 } }));
    }
};

TRAINYARD_TEST(MapNamesTest)
#include "tst_map_names.moc"
