// SPDX-License-Identifier: GPL-3.0-or-later
// Golden images of the map, one a theme: rendered at a fixed size and ratio in one font, compared with a tolerance.
// TRAINYARD_UPDATE_GOLDENS=1 writes them anew under tests/data/golden/; look at them before committing.
#include "tests/views/cluster/map_fixtures.h"
#include "views/cluster/cluster_map.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QDir>
#include <QFontInfo>
#include <QImage>
#include <QTest>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

constexpr int kChannelTolerance = 24;      // fonts hint a little differently between library versions
constexpr double kPixelTolerance = 0.02;   // share of pixels that may differ by more

double differingShare(const QImage &a, const QImage &b)
{
    qint64 differing = 0;
    for (int y = 0; y < a.height(); ++y) {
        for (int x = 0; x < a.width(); ++x) {
            const QRgb p = a.pixel(x, y), q = b.pixel(x, y);
            differing += std::max({std::abs(qRed(p) - qRed(q)), std::abs(qGreen(p) - qGreen(q)), std::abs(qBlue(p) - qBlue(q))}) > kChannelTolerance;
        }
    }
    return double(differing) / (double(a.width()) * a.height());
}

} // namespace

class MapPicturesTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        setUiFontFamilies({QStringLiteral("DejaVu Sans")});
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
        map.setPlan(plan);
        map.setEvaluation(dealt(plan, 11.84, 16));
        map.show();
        QObject::connect(&map, &ClusterMap::editPreviewed, &map, [&](const PlanPtr &next) { map.setEvaluation(dealt(next, 11.31, 16)); });
        const QPoint node = nodeRect(map.mapLayout(), 0, 0, 9).center().toPoint(), there = map.mapLayout().islands[1].frame.center().toPoint();
        QTest::mousePress(&map, Qt::LeftButton, {}, node);
        QTest::mouseMove(&map, (node + there) / 2);
        QTest::mouseMove(&map, there);
        QImage image(map.size(), QImage::Format_RGB32);
        map.render(&image);

        const QString path = QStringLiteral(TRAINYARD_SOURCE_DIR "/tests/data/golden/map_%1.png").arg(QString::fromLatin1(QTest::currentDataTag()));
        if (qEnvironmentVariableIntValue("TRAINYARD_UPDATE_GOLDENS") == 1) {
            QVERIFY(QDir().mkpath(QFileInfo(path).path()));
            QVERIFY(image.convertToFormat(QImage::Format_RGB888).save(path));
            QSKIP("golden image written");
        }
        const QImage golden = QImage(path).convertToFormat(QImage::Format_RGB32);
        QVERIFY2(!golden.isNull(), qPrintable(path));
        QCOMPARE(image.size(), golden.size());
        const double share = differingShare(image, golden);
        if (share > kPixelTolerance)
            image.save(QDir::temp().filePath(QFileInfo(path).completeBaseName() + QStringLiteral("_actual.png")));
        QVERIFY2(share <= kPixelTolerance, qPrintable(QStringLiteral("%1 % of the pixels differ").arg(share * 100)));
    }
};

QTEST_MAIN(MapPicturesTest)
#include "tst_map_pictures.moc"
