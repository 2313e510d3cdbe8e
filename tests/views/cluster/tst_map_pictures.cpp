// SPDX-License-Identifier: GPL-3.0-or-later
// Golden images of the map's islands and links under a drag, one per theme: tests/support/golden_picture.h.
#include "tests/support/golden_picture.h"
#include "tests/support/test_program.h"
#include "tests/support/told.h"
#include "tests/views/cluster/map_fixtures.h"
#include "views/cluster/cluster_map.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QFontInfo>
#include <QTest>

using namespace trainyard;
using namespace trainyard::testing;

class MapPicturesTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        if (QFontInfo(uiFont()).family() != QStringLiteral("DejaVu Sans"))
            QSKIP("golden images need the font DejaVu Sans");
    }

    void threeRegionsUnderADrag_data()
    {
        QTest::addColumn<bool>("dark");
        QTest::newRow("dark") << true;
        QTest::newRow("light") << false;
    }
    void threeRegionsUnderADrag()
    {
        QFETCH(bool, dark);
        applyTheme(*qApp, dark ? ThemeKind::Dark : ThemeKind::Light);
        ClusterMap map;
        map.resize(900, 290);
        const auto plan = std::make_shared<const Plan>(threeRegions());
        map.setShown(shownOf(plan));
        map.setShown(test::told(plan, dealt(plan, 11.84, 16)));
        map.show();
        QObject::connect(&map, &ClusterMap::editPreviewed, &map,
            [&](const PlanPtr &next) { map.setShown(test::previewed(dealt(next, 11.31, 16), plan)); });
        const QPoint node = nodeRect(map.mapLayout(), 0, 0, 9).center().toPoint(),
                     there = map.mapLayout().islands[1].frame.center().toPoint();
        QTest::mousePress(&map, Qt::LeftButton, {}, node);
        QTest::mouseMove(&map, (node + there) / 2);
        QTest::mouseMove(&map, there);
        QList<QRect> parts;
        for (const IslandLayout &island : map.mapLayout().islands)
            parts << island.frame.toAlignedRect();
        for (const LinkLayout &link : map.mapLayout().links) {
            if (link.visible)
                parts << link.card.toAlignedRect();
        }
        QCOMPARE(parts.size(), 5); // three datacenters and two links
        const QString difference = test::differenceFromGolden(
            map, QStringLiteral("map_") + QString::fromLatin1(QTest::currentDataTag()), parts);
        QVERIFY2(difference.isEmpty(), qPrintable(difference));
    }
};

TRAINYARD_TEST(MapPicturesTest)
#include "tst_map_pictures.moc"
