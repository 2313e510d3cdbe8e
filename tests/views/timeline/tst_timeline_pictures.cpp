// SPDX-License-Identifier: GPL-3.0-or-later
// Golden images of the timeline: rendered at a fixed size and ratio in one font, compared with a tolerance.
// TRAINYARD_UPDATE_GOLDENS=1 writes them anew under tests/data/golden/; look at them before committing.
#include "tests/support/sample_timelines.h"
#include "views/theme/theme.h"
#include "views/timeline/timeline_view.h"

#include <QApplication>
#include <QDir>
#include <QFontInfo>
#include <QTest>

using namespace trainyard;

namespace {

constexpr int kChannelTolerance = 24;      // fonts hint a little differently between library versions
constexpr double kPixelTolerance = 0.02;   // share of pixels that may differ by more

QString goldenPath(const QString &name)
{
    return QStringLiteral(TRAINYARD_SOURCE_DIR "/tests/data/golden/timeline_%1.png").arg(name);
}

double differingShare(const QImage &a, const QImage &b)
{
    qint64 differing = 0;
    for (int y = 0; y < a.height(); ++y) {
        for (int x = 0; x < a.width(); ++x) {
            const QRgb p = a.pixel(x, y), q = b.pixel(x, y);
            const int worst = std::max({std::abs(qRed(p) - qRed(q)), std::abs(qGreen(p) - qGreen(q)), std::abs(qBlue(p) - qBlue(q))});
            differing += worst > kChannelTolerance ? 1 : 0;
        }
    }
    return double(differing) / (double(a.width()) * a.height());
}

} // namespace

class TimelinePicturesTest : public QObject {
    Q_OBJECT

    void compare(TimelineView &view, const QString &name)
    {
        QImage image(view.size(), QImage::Format_RGB32);
        view.render(&image);
        if (qEnvironmentVariableIntValue("TRAINYARD_UPDATE_GOLDENS") == 1) {
            QVERIFY(QDir().mkpath(QFileInfo(goldenPath(name)).path()));
            QVERIFY(image.convertToFormat(QImage::Format_RGB888).save(goldenPath(name)));
            QSKIP("golden image written");
        }
        const QImage golden = QImage(goldenPath(name)).convertToFormat(QImage::Format_RGB32);
        QVERIFY2(!golden.isNull(), qPrintable(goldenPath(name)));
        QCOMPARE(image.size(), golden.size());
        const double share = differingShare(image, golden);
        if (share > kPixelTolerance)
            image.save(QDir::temp().filePath(name + QStringLiteral("_actual.png")));
        QVERIFY2(share <= kPixelTolerance, qPrintable(QStringLiteral("%1 % of the pixels differ").arg(share * 100)));
    }

    static void show(TimelineView &view, QSize size, const EvaluationPtr &evaluation)
    {
        view.resize(size);
        view.setEvaluation(evaluation);
        view.show();
        QApplication::processEvents();
    }

private slots:
    void initTestCase()
    {
        setUiFontFamilies({QStringLiteral("DejaVu Sans")});
        if (QFontInfo(uiFont()).family() != QStringLiteral("DejaVu Sans"))
            QSKIP("golden images need the font DejaVu Sans");
    }

    void aFewMicroBatches_data()
    {
        QTest::addColumn<bool>("dark");
        QTest::newRow("few_dark") << true;
        QTest::newRow("few_light") << false;
    }
    void aFewMicroBatches()
    {
        QFETCH(bool, dark);
        applyTheme(*qApp, dark ? ThemeKind::Dark : ThemeKind::Light);
        TimelineView view;
        show(view, {720, 220}, test::sampleEvaluation({.datacenters = 2, .stages = 4, .microBatches = 6}));
        compare(view, QString::fromLatin1(QTest::currentDataTag()));
    }

    void moreSpansThanPixels()
    {
        applyTheme(*qApp, ThemeKind::Dark);
        TimelineView view;
        show(view, {720, 300}, test::sampleEvaluation({.stages = 8, .microBatches = 400}));
        compare(view, QStringLiteral("dense"));
    }

    void theCriticalPathStandsOut()
    {
        applyTheme(*qApp, ThemeKind::Light);
        TimelineView view;
        show(view, {720, 220}, test::sampleEvaluation({.datacenters = 2, .stages = 4, .microBatches = 6}));
        view.toggleCriticalPath();
        compare(view, QStringLiteral("critical"));
    }

    void aSelectionShowsItsDependenciesOverABaseline()
    {
        applyTheme(*qApp, ThemeKind::Dark);
        TimelineView view;
        show(view, {720, 260}, test::sampleEvaluation({.datacenters = 2, .stages = 4, .microBatches = 6}));
        view.setBaseline(test::sampleEvaluation({.datacenters = 2, .stages = 4, .microBatches = 6, .wanHold = 60'000'000}));
        const Track &track = view.state().timeline()->tracks[2];
        view.selectSpan(track.first + 1);
        view.addMark();
        view.nextSpan();
        view.addMark();
        compare(view, QStringLiteral("selection"));
    }
};

QTEST_MAIN(TimelinePicturesTest)
#include "tst_timeline_pictures.moc"
