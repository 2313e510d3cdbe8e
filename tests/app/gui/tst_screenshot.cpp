// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

namespace {

struct Ended {
    int code;
    QString output, errors;
};

QString application()
{
    return QFileInfo(QStringLiteral(TRAINYARD_CLI)).dir().filePath("trainyard");
}

Ended run(const QStringList &arguments, const QProcessEnvironment &environment = QProcessEnvironment::systemEnvironment())
{
    QProcess process;
    process.setProcessEnvironment(environment);
    process.start(application(), arguments);
    if (!process.waitForFinished(200000) || process.exitStatus() != QProcess::NormalExit)
        return {-1, {}, process.errorString()};
    return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
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
        const Ended ended = run({"--screenshot", path, "--size", "1280x720", "--theme", "light", TRAINYARD_SOURCE_DIR "/samples/mixed-lab.trainyard.json"});
        QVERIFY2(ended.code == 0, qPrintable(ended.errors));
        const QImage picture(path);
        QCOMPARE(picture.size(), QSize(1280, 720));
        QVERIFY(picture.pixelColor(2, 2).lightness() > 200);
    }
    void withoutAPlanTheFirstSampleIsShown()
    {
        const QString path = m_folder.filePath("first.png");
        const Ended ended = run({"--screenshot", path});
        QVERIFY2(ended.code == 0, qPrintable(ended.errors));
        QCOMPARE(QImage(path).size(), QSize(1440, 900));
    }
    void theRankingOfDatacentersIsAPageOfItsOwn()
    {
        const QString plan = m_folder.filePath("plan.png"), ranking = m_folder.filePath("ranking.png");
        QCOMPARE(run({"--screenshot", plan}).code, 0);
        QCOMPARE(run({"--screenshot", ranking, "--page", "datacenters"}).code, 0);
        const QImage a(plan), b(ranking);
        QCOMPARE(b.size(), a.size());
        const QRect map(20, 120, 900, 250), upperRight(980, 160, 440, 380);
        QCOMPARE(a.copy(map), b.copy(map));
        QVERIFY(a.copy(upperRight) != b.copy(upperRight));
        QVERIFY(run({"--page", "nowhere"}).errors.contains("datacenters"));
    }
    void aMissingPlanFailsWithOneLine()
    {
        const Ended ended = run({"--screenshot", m_folder.filePath("x.png"), m_folder.filePath("nowhere.json")});
        QCOMPARE(ended.code, 2);
        QVERIFY2(ended.errors.contains("nowhere.json"), qPrintable(ended.errors));
        QVERIFY(!QFile::exists(m_folder.filePath("x.png")));
    }
    void badOptionsAreToldWithWhatWouldBeRight()
    {
        QCOMPARE(run({"--size", "big"}).code, 2);
        QVERIFY(run({"--size", "big"}).errors.contains("1440x900"));
        const Ended large = run({"--screenshot", m_folder.filePath("large.png"), "--size", "99999x99999"});
        QCOMPARE(large.code, 2);
        QVERIFY2(large.errors.contains("8192"), qPrintable(large.errors));
        QVERIFY(run({"--theme", "pink"}).errors.contains("high-contrast"));
        QCOMPARE(run({"--no-such"}).code, 2);
    }
    void helpAndVersionPrintAndEnd()
    {
        QCOMPARE(run({"--help"}).code, 0);
        QVERIFY(run({"--help"}).output.contains("--screenshot"));
        QCOMPARE(run({"--version"}).code, 0);
    }
    void helpAndFaultsNeedNoDisplay()
    {
        QProcessEnvironment bare = QProcessEnvironment::systemEnvironment();
        for (const char *name : {"QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"})
            bare.remove(QLatin1String(name));
        QCOMPARE(run({"--help"}, bare).code, 0);
        QCOMPARE(run({"--version"}, bare).code, 0);
        QCOMPARE(run({"--no-such"}, bare).code, 2);
    }

private:
    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(ScreenshotTest)
#include "tst_screenshot.moc"
