// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <set>

namespace {

struct Ended {
    int code;
    QString output, errors;
};

QString application()
{
    return QFileInfo(QStringLiteral(TRAINYARD_CLI)).dir().filePath("trainyard");
}

Ended run(
    const QStringList &arguments, const QProcessEnvironment &environment = QProcessEnvironment::systemEnvironment())
{
    QProcess process;
    process.setProcessEnvironment(environment);
    process.start(application(), arguments);
    if (!process.waitForFinished(200000) || process.exitStatus() != QProcess::NormalExit)
        return { -1, {}, process.errorString() };
    return { process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError() };
}

} // namespace

class ScreenshotTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        if (!QFile::exists(application()))
            QSKIP("the application is not built here");
    }
    void aPictureHasTheSizeAskedFor()
    {
        const QString path = m_folder.filePath("window.png");
        const Ended ended = run({ "--screenshot", path, "--size", "1280x720", "--theme", "light",
            TRAINYARD_SOURCE_DIR "/samples/mixed-lab.trainyard.json" });
        QVERIFY2(ended.code == 0, qPrintable(ended.errors));
        const QImage picture(path);
        QCOMPARE(picture.size(), QSize(1280, 720));
        QVERIFY(picture.pixelColor(2, 2).lightness() > 200);
    }
    /// Both themes, three sizes, three scales: every panel's corner of the window has something to read.
    void theWindowIsWholeInEveryThemeSizeAndScale_data()
    {
        QTest::addColumn<QString>("theme");
        QTest::addColumn<QSize>("size");
        QTest::addColumn<double>("scale");
        QTest::newRow("light 1280") << "light" << QSize(1280, 720) << 1.0;
        QTest::newRow("dark 1440") << "dark" << QSize(1440, 900) << 1.0;
        QTest::newRow("light 2560") << "light" << QSize(2560, 1440) << 1.0;
        QTest::newRow("light 1280 at 1.5") << "light" << QSize(1280, 720) << 1.5;
        QTest::newRow("dark 960 at 2") << "dark" << QSize(960, 540) << 2.0;
    }
    void theWindowIsWholeInEveryThemeSizeAndScale()
    {
        QFETCH(QString, theme);
        QFETCH(QSize, size);
        QFETCH(double, scale);
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("QT_SCALE_FACTOR", QString::number(scale));
        const QString path = m_folder.filePath("whole.png");
        const Ended ended =
            run({ "--screenshot", path, "--size", QStringLiteral("%1x%2").arg(size.width()).arg(size.height()),
                    "--theme", theme, TRAINYARD_SOURCE_DIR "/samples/llama-3-70b-three-regions.trainyard.json" },
                environment);
        QVERIFY2(ended.code == 0, qPrintable(ended.errors));
        const QImage picture(path);
        QCOMPARE(picture.size(), size * scale);
        // In each ninth of the window, what is darker and lighter than its background.
        for (int part = 0; part < 9; ++part) {
            const QRect third(picture.width() * (part % 3) / 3, picture.height() * (part / 3) / 3, picture.width() / 3,
                picture.height() / 3);
            std::set<QRgb> colors;
            for (int y = third.top(); y <= third.bottom() && y < picture.height(); y += 3)
                for (int x = third.left(); x <= third.right() && x < picture.width(); x += 3)
                    colors.insert(picture.pixel(x, y));
            QVERIFY2(
                colors.size() > 40, qPrintable(QStringLiteral("part %1 has %2 colours").arg(part).arg(colors.size())));
        }
    }
    void withoutAPlanTheFirstSampleIsShown()
    {
        const QString path = m_folder.filePath("first.png");
        const Ended ended = run({ "--screenshot", path });
        QVERIFY2(ended.code == 0, qPrintable(ended.errors));
        QCOMPARE(QImage(path).size(), QSize(1440, 900));
    }
    void theRankingOfDatacentersIsAPageOfItsOwn()
    {
        const QString plan = m_folder.filePath("plan.png"), ranking = m_folder.filePath("ranking.png");
        QCOMPARE(run({ "--screenshot", plan }).code, 0);
        QCOMPARE(run({ "--screenshot", ranking, "--page", "datacenters" }).code, 0);
        const QImage a(plan), b(ranking);
        QCOMPARE(b.size(), a.size());
        const QRect map(20, 120, 900, 250), upperRight(980, 160, 440, 380);
        QCOMPARE(a.copy(map), b.copy(map));
        QVERIFY(a.copy(upperRight) != b.copy(upperRight));
        QVERIFY(run({ "--page", "nowhere" }).errors.contains("datacenters"));
    }
    void aMissingPlanFailsWithOneLine()
    {
        const Ended ended = run({ "--screenshot", m_folder.filePath("x.png"), m_folder.filePath("nowhere.json") });
        QCOMPARE(ended.code, 2);
        QVERIFY2(ended.errors.contains("nowhere.json"), qPrintable(ended.errors));
        QVERIFY(!QFile::exists(m_folder.filePath("x.png")));
    }
    /// Where the window of a user shows its first sample and a message, a script wants no picture of that.
    void aSweepThatCannotBeReadFailsWithoutAPicture()
    {
        const QString sweep = m_folder.filePath("later.csv"), picture = m_folder.filePath("later.png");
        QFile file(sweep);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("# trainyard sweep {\"format\":\"trainyard.sweep\",\"version\":9}\nindex\n");
        file.close();
        const Ended ended = run({ "--screenshot", picture, sweep });
        QCOMPARE(ended.code, 2);
        QVERIFY2(ended.errors.contains("later.csv"), qPrintable(ended.errors));
        QVERIFY(!QFile::exists(picture));
    }
    void badOptionsAreToldWithWhatWouldBeRight()
    {
        QCOMPARE(run({ "--size", "big" }).code, 2);
        QVERIFY(run({ "--size", "big" }).errors.contains("1440x900"));
        const Ended large = run({ "--screenshot", m_folder.filePath("large.png"), "--size", "99999x99999" });
        QCOMPARE(large.code, 2);
        QVERIFY2(large.errors.contains("8192"), qPrintable(large.errors));
        QVERIFY(run({ "--theme", "pink" }).errors.contains("high-contrast"));
        QCOMPARE(run({ "--no-such" }).code, 2);
    }
    void helpAndVersionPrintAndEnd()
    {
        QCOMPARE(run({ "--help" }).code, 0);
        QVERIFY(run({ "--help" }).output.contains("--screenshot"));
        QCOMPARE(run({ "--version" }).code, 0);
    }
    void helpAndFaultsNeedNoDisplay()
    {
        QProcessEnvironment bare = QProcessEnvironment::systemEnvironment();
        for (const char *name : { "QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY" })
            bare.remove(QLatin1String(name));
        QCOMPARE(run({ "--help" }, bare).code, 0);
        QCOMPARE(run({ "--version" }, bare).code, 0);
        QCOMPARE(run({ "--no-such" }, bare).code, 2);
    }

private:
    QTemporaryDir m_folder;
};

TRAINYARD_GUILESS_TEST(ScreenshotTest)
#include "tst_screenshot.moc"
