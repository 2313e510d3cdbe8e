// SPDX-License-Identifier: GPL-3.0-or-later
// What the programs of the command line say of themselves: version, manual page, completions.
#include "tests/app/cli/program.h"
#include "tests/support/manual_checks.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFileInfo>
#include <QTest>

using namespace trainyard::test;

namespace {

QString sweepBesideIt()
{
    return QFileInfo(QStringLiteral(TRAINYARD_CLI)).dir().filePath(QStringLiteral("trainyard-sweep"));
}

} // namespace

#define QVERIFY_NONE(found) QVERIFY2((found).isEmpty(), qPrintable((found).join(QLatin1Char('\n'))))

class ManualTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        m_programs = { QStringLiteral(TRAINYARD_CLI) };
        if (QFile::exists(sweepBesideIt()))
            m_programs << sweepBesideIt();
    }

    void versionTellsCommitAndBuildAndWhereTheSamplesAre()
    {
        for (const QString &program : m_programs) {
            const QStringList lines = outputOf(program, { QStringLiteral("--version") }).split(u'\n');
            static const QRegularExpression first(QStringLiteral("^trainyard-[a-z]+ \\d+\\.\\d+\\.\\d+$"));
            static const QRegularExpression commit(
                QStringLiteral("^commit:  ([0-9a-f]{7,}(-dirty)? of \\d{4}-\\d\\d-\\d\\d|unknown)$"));
            static const QRegularExpression build(QStringLiteral("^build:   \\w+.*, \\w+ [\\d.]+, \\w+$"));
            QVERIFY2(lines.size() >= 5, qPrintable(lines.join(u'\n')));
            QVERIFY2(first.match(lines[0]).hasMatch(), qPrintable(lines[0]));
            QVERIFY2(commit.match(lines[1]).hasMatch(), qPrintable(lines[1]));
            QVERIFY2(build.match(lines[2]).hasMatch(), qPrintable(lines[2]));
            QVERIFY2(QFile::exists(lines[3].section(QStringLiteral(": "), 1).trimmed()
                         + QStringLiteral("/mixed-lab.trainyard.json")),
                qPrintable(lines[3]));
            QVERIFY2(
                QFile::exists(lines[4].section(QStringLiteral(": "), 1).trimmed() + QStringLiteral("/plan-file.md")),
                qPrintable(lines[4]));
        }
    }

    /// The version is stated once; what is packaged says the same of itself.
    void theVersionIsThatOfThePackages()
    {
        const auto textOf = [](const char *path) {
            QFile file(QStringLiteral(TRAINYARD_SOURCE_DIR "/") + QLatin1String(path));
            return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
        };
        const QString version =
            outputOf(m_programs.front(), { QStringLiteral("--version") }).section(u'\n', 0, 0).section(u' ', 1);
        QVERIFY(textOf("CMakeLists.txt").contains(QStringLiteral("project(trainyard VERSION %1 ").arg(version)));
        QVERIFY(textOf("packaging/debian-changelog").startsWith(QStringLiteral("trainyard (%1-1) ").arg(version)));
        QCOMPARE(textOf("packaging/org.trainyard.Trainyard.metainfo.xml")
                     .section(QStringLiteral("<release version=\""), 1, 1)
                     .section(u'"', 0, 0),
            version);
    }

    void thePageHasEveryCommandAndOption()
    {
        QVERIFY(commandsOf(m_programs.front()).size() > 20);
        for (const QString &program : m_programs)
            QVERIFY_NONE(faultsOfManPage(program));
    }

    void bashOffersEveryCommandOptionAndValue()
    {
        for (const QString &program : m_programs)
            QVERIFY_NONE(faultsOfBash(program));
        const QString completion = manualOfProgram(m_programs.front(), "bash");
        QCOMPARE(offeredByBash(m_programs.front(), completion, { QStringLiteral("catalog"), QStringLiteral("m") }),
            QStringList { QStringLiteral("models") });
        QCOMPARE(offeredByBash(m_programs.front(), completion, { QStringLiteral("telemetry"), QStringLiteral("comp") }),
            QStringList { QStringLiteral("compare") });
    }

    void zshDescribesEveryCommandOptionAndValue()
    {
        for (const QString &program : m_programs)
            QVERIFY_NONE(faultsOfZsh(program));
    }

    void fishOffersEveryCommandOptionAndValue()
    {
        for (const QString &program : m_programs)
            QVERIFY_NONE(faultsOfFish(program));
    }

    void anotherFormatIsRefused()
    {
        const Answer answer = run(words("--manual tcsh"));
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(answer.err.contains(QLatin1String("fish")), qPrintable(answer.err));
    }

    /// A launcher starts many, of which one answers.
    void aSweepAnswersQuestionsWithoutMpi()
    {
        if (m_programs.size() < 2)
            QSKIP("There is no trainyard-sweep on this machine.");
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("OMPI_MCA_ess"), QStringLiteral("none-of-these")); // with it MPI cannot begin
        process.setProcessEnvironment(environment);
        process.start(sweepBesideIt(), { QStringLiteral("--help") });
        QVERIFY(process.waitForFinished(60'000));
        QCOMPARE(process.exitCode(), 0);
        QVERIFY(process.readAllStandardOutput().contains("--lost-after"));
    }

private:
    QStringList m_programs;
};

TRAINYARD_GUILESS_TEST(ManualTest)
#include "tst_manual.moc"
