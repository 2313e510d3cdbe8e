// SPDX-License-Identifier: GPL-3.0-or-later
// The window as it is started: with a plan or a recording, with and without a display, and asked about itself.
#include "tests/support/manual_checks.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

using namespace trainyard::test;

namespace {

struct Ended {
    int code;
    QString output, errors;
};

QString window()
{
    return QFileInfo(QStringLiteral(TRAINYARD_CLI)).dir().filePath("trainyard");
}

/// Of somebody who has set nothing of what tests set for themselves.
Ended start(const QStringList &arguments, const std::vector<std::pair<QString, QString>> &environment = {})
{
    QProcess process;
    QProcessEnvironment bare = QProcessEnvironment::systemEnvironment();
    for (const char *name :
        { "QT_QPA_PLATFORM", "QT_LOGGING_RULES", "QT_DEBUG_PLUGINS", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR" })
        bare.remove(QLatin1String(name));
    for (const auto &[name, value] : environment)
        bare.insert(name, value);
    process.setProcessEnvironment(bare);
    process.start(window(), arguments);
    if (!process.waitForFinished(200000) || process.exitStatus() != QProcess::NormalExit)
        return { -1, {}, process.errorString() };
    return { process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError() };
}

QString sample(const char *name)
{
    return QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/") + QLatin1String(name);
}

} // namespace

#define QVERIFY_NONE(found) QVERIFY2((found).isEmpty(), qPrintable((found).join(QLatin1Char('\n'))))

class StartedWindowTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        if (!QFile::exists(window()))
            QSKIP("the application is not built here");
    }
    void aPictureIsTakenWithoutAWordOfThePlatform()
    {
        const QString path = m_folder.filePath("quiet.png");
        const Ended ended = start({ "--screenshot", path, sample("mixed-lab.trainyard.json") });
        QVERIFY2(ended.code == 0 && ended.errors.isEmpty(), qPrintable(ended.errors));
        QVERIFY(QFile::exists(path));
    }
    void whereThereIsNoDisplayOneSentenceSaysSo_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("value");
        QTest::newRow("none") << QString() << QString();
        QTest::newRow("an X server that is not there") << "DISPLAY"
                                                       << ":77";
        QTest::newRow("a compositor that is not there") << "WAYLAND_DISPLAY"
                                                        << "nowhere";
        QTest::newRow("a platform that is not there") << "QT_QPA_PLATFORM"
                                                      << "teletype";
    }
    void whereThereIsNoDisplayOneSentenceSaysSo()
    {
        QFETCH(QString, name);
        QFETCH(QString, value);
        std::vector<std::pair<QString, QString>> environment;
        if (!name.isEmpty())
            environment.emplace_back(name, value);
        if (name == "WAYLAND_DISPLAY")
            environment.emplace_back("XDG_RUNTIME_DIR", m_folder.path()); // without it libwayland complains by itself
        const Ended ended = start({ sample("mixed-lab.trainyard.json") }, environment);
        QCOMPARE(ended.code, 2);
        QVERIFY(ended.output.isEmpty());
        QCOMPARE(ended.errors.count(u'\n'), 1);
        QVERIFY2(ended.errors.startsWith("trainyard: there is no display"), qPrintable(ended.errors));
        QVERIFY2(
            ended.errors.contains("--screenshot") && ended.errors.contains("trainyard-cli"), qPrintable(ended.errors));
        QVERIFY2(name.isEmpty() ? ended.errors.contains("neither DISPLAY") : ended.errors.contains(name + '=' + value),
            qPrintable(ended.errors));
    }
    /// Named alone, it is what is seen: another picture than that of the plan beside it.
    void aRecordingIsOpenedByItsName()
    {
        const QString run = m_folder.filePath("run.png"), plan = m_folder.filePath("plan.png");
        const Ended ended = start({ "--screenshot", run, sample("moe-2x70b-16-a800-run.trainyard-recording") });
        QVERIFY2(ended.code == 0 && ended.errors.isEmpty(), qPrintable(ended.errors));
        QCOMPARE(start({ "--screenshot", plan, sample("moe-2x70b-16-a800.trainyard.json") }).code, 0);
        const QImage first(run), second(plan);
        QCOMPARE(first.size(), QSize(1440, 900));
        QVERIFY(first != second);
    }
    void aPlanAndItsRecordingAreOpenedTogether()
    {
        const QString named = m_folder.filePath("named.png"), asked = m_folder.filePath("asked.png");
        const QString plan = sample("moe-2x70b-16-a800.trainyard.json"),
                      run = sample("moe-2x70b-16-a800-run.trainyard-recording");
        QCOMPARE(start({ "--screenshot", named, plan, run }).code, 0);
        QCOMPARE(start({ "--screenshot", asked, "--run", run, "--page", "run", plan }).code, 0);
        QCOMPARE(QImage(named), QImage(asked));
    }
    void whatIsNeitherAPlanNorARunFailsWithoutAPicture()
    {
        const QString notes = m_folder.filePath("notes.txt"), path = m_folder.filePath("none.png");
        QFile file(notes);
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write("buy milk\n") > 0);
        file.close();
        const Ended ended = start({ "--screenshot", path, notes });
        QCOMPARE(ended.code, 2);
        QVERIFY2(ended.errors.contains("notes.txt"), qPrintable(ended.errors));
        QVERIFY(!QFile::exists(path));
    }
    void versionTellsCommitBuildAndQt()
    {
        const QStringList lines = start({ "--version" }).output.split(u'\n');
        QVERIFY2(lines.size() >= 4, qPrintable(lines.join(u'\n')));
        QVERIFY2(lines[0].startsWith("trainyard "), qPrintable(lines[0]));
        QVERIFY2(lines[1].startsWith("commit: "), qPrintable(lines[1]));
        QVERIFY2(lines[2].startsWith("build: "), qPrintable(lines[2]));
        static const QRegularExpression qt(QStringLiteral("^Qt: +6\\.\\d+\\.\\d+, built with 6\\.\\d+\\.\\d+$"));
        QVERIFY2(qt.match(lines[3]).hasMatch(), qPrintable(lines[3]));
    }
    void theManualHasEveryOption()
    {
        QVERIFY_NONE(faultsOfManPage(window()));
        QVERIFY_NONE(faultsOfBash(window()));
        QVERIFY_NONE(faultsOfZsh(window()));
        QVERIFY_NONE(faultsOfFish(window()));
        QCOMPARE(offeredByBash(window(), manualOfProgram(window(), "bash"), { "--theme", "h" }),
            QStringList { "high-contrast" });
        QCOMPARE(start({ "--manual", "tcsh" }).code, 2);
    }

private:
    QTemporaryDir m_folder;
};

TRAINYARD_GUILESS_TEST(StartedWindowTest)
#include "tst_start.moc"
