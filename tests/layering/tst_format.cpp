// SPDX-License-Identifier: GPL-3.0-or-later
// Sources look as .clang-format says: asked of clang-format itself, which scripts/packages names.

#include "tests/support/test_program.h"

#include <QDir>
#include <QDirIterator>
#include <QProcess>
#include <QStandardPaths>
#include <QTest>

namespace {

/// The version whose output the repository holds: another lays some lines out otherwise.
constexpr const char *kVersion = "version 14.";

QString output(const QString &program, const QStringList &arguments)
{
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.setWorkingDirectory(QStringLiteral(TRAINYARD_SOURCE_DIR));
    process.start(program, arguments);
    return process.waitForFinished(240'000) ? QString::fromUtf8(process.readAll())
                                            : QStringLiteral("it did not finish");
}

QStringList sources()
{
    const QDir root(QStringLiteral(TRAINYARD_SOURCE_DIR));
    QStringList paths;
    for (const char *folder : { "core", "models", "views", "app", "tests", "tools" }) {
        QDirIterator files(root.filePath(QLatin1String(folder)), { QStringLiteral("*.h"), QStringLiteral("*.cpp") },
            QDir::Files, QDirIterator::Subdirectories);
        while (files.hasNext())
            paths.append(root.relativeFilePath(files.next()));
    }
    return paths;
}

} // namespace

class TstFormat : public QObject {
    Q_OBJECT

    QString m_program;

private slots:
    void initTestCase()
    {
        m_program = QStandardPaths::findExecutable(QStringLiteral("clang-format"));
        QVERIFY2(!m_program.isEmpty(), "clang-format is not installed; scripts/setup installs it");
        const QString version = output(m_program, { QStringLiteral("--version") });
        QVERIFY2(version.contains(QLatin1String(kVersion)),
            qPrintable(QStringLiteral("clang-format 14 is needed, that of Debian 12; this is ") + version.trimmed()));
    }

    void sourcesAreFormattedAsTheRepositorySays()
    {
        const QStringList all = sources();
        QVERIFY(all.size() > 500);
        QStringList files { QStringLiteral("--style=file"), QStringLiteral("--dry-run"), QStringLiteral("-Werror"),
            QStringLiteral("--ferror-limit=1") };
        files += all;
        const QString found = output(m_program, files);
        QVERIFY2(found.isEmpty(), qPrintable(QStringLiteral("scripts/format puts right:\n") + found.left(4000)));
    }
};

TRAINYARD_GUILESS_TEST(TstFormat)
#include "tst_format.moc"
