// SPDX-License-Identifier: GPL-3.0-or-later
// Sources look as .clang-format says: asked of clang-format itself, and skipped where it is not installed.

#include <QDir>
#include <QDirIterator>
#include <QMap>
#include <QProcess>
#include <QStandardPaths>
#include <QTest>

namespace {

/// The version whose output the repository holds: another lays some lines out otherwise.
constexpr const char *kVersion = "version 14.";

/// Rooms that scripts/format has not been through. Formatted ones leave this list, which shall become empty.
const QStringList kNotYet {
    QStringLiteral("app/cli"),
    QStringLiteral("app/gui"),
    QStringLiteral("core/base"),
    QStringLiteral("core/catalogue"),
    QStringLiteral("core/cluster"),
    QStringLiteral("core/cost"),
    QStringLiteral("core/evaluate"),
    QStringLiteral("core/hardware"),
    QStringLiteral("core/iteration"),
    QStringLiteral("core/ladder"),
    QStringLiteral("core/memory"),
    QStringLiteral("core/offload"),
    QStringLiteral("core/placement"),
    QStringLiteral("core/plan"),
    QStringLiteral("core/prefill"),
    QStringLiteral("core/report"),
    QStringLiteral("core/schedule"),
    QStringLiteral("core/selection"),
    QStringLiteral("core/timeline"),
    QStringLiteral("core/validation"),
    QStringLiteral("core/workload"),
    QStringLiteral("models"),
    QStringLiteral("models/text"),
    QStringLiteral("models/validation"),
    QStringLiteral("tests/app/cli"),
    QStringLiteral("tests/app/gui"),
    QStringLiteral("tests/benchmarks"),
    QStringLiteral("tests/core/base"),
    QStringLiteral("tests/core/catalogue"),
    QStringLiteral("tests/core/cluster"),
    QStringLiteral("tests/core/cost"),
    QStringLiteral("tests/core/evaluate"),
    QStringLiteral("tests/core/hardware"),
    QStringLiteral("tests/core/iteration"),
    QStringLiteral("tests/core/ladder"),
    QStringLiteral("tests/core/memory"),
    QStringLiteral("tests/core/offload"),
    QStringLiteral("tests/core/placement"),
    QStringLiteral("tests/core/plan"),
    QStringLiteral("tests/core/prefill"),
    QStringLiteral("tests/core/report"),
    QStringLiteral("tests/core/schedule"),
    QStringLiteral("tests/core/selection"),
    QStringLiteral("tests/core/timeline"),
    QStringLiteral("tests/core/validation"),
    QStringLiteral("tests/core/workload"),
    QStringLiteral("tests/fuzz"),
    QStringLiteral("tests/layering"),
    QStringLiteral("tests/models"),
    QStringLiteral("tests/models/validation"),
    QStringLiteral("tests/samples"),
    QStringLiteral("tests/support"),
    QStringLiteral("tests/tools"),
    QStringLiteral("tests/validation"),
    QStringLiteral("tests/views/cluster"),
    QStringLiteral("tests/views/details"),
    QStringLiteral("tests/views/export"),
    QStringLiteral("tests/views/panels"),
    QStringLiteral("tests/views/plots"),
    QStringLiteral("tests/views/theme"),
    QStringLiteral("tests/views/timeline"),
    QStringLiteral("tests/views/validation"),
    QStringLiteral("tests/views/window"),
    QStringLiteral("tools"),
    QStringLiteral("tools/fit_kernels"),
    QStringLiteral("tools/fit_network"),
    QStringLiteral("tools/fit_stacks"),
    QStringLiteral("tools/fits"),
    QStringLiteral("views/cluster"),
    QStringLiteral("views/commands"),
    QStringLiteral("views/details"),
    QStringLiteral("views/export"),
    QStringLiteral("views/panels"),
    QStringLiteral("views/plots"),
    QStringLiteral("views/start"),
    QStringLiteral("views/theme"),
    QStringLiteral("views/timeline"),
    QStringLiteral("views/validation"),
    QStringLiteral("views/window"),
};

QString output(const QString &program, const QStringList &arguments)
{
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.setWorkingDirectory(QStringLiteral(TRAINYARD_SOURCE_DIR));
    process.start(program, arguments);
    return process.waitForFinished(240'000) ? QString::fromUtf8(process.readAll())
                                            : QStringLiteral("it did not finish");
}

} // namespace

class TstFormat : public QObject {
    Q_OBJECT

    QString m_program;
    QMap<QString, QStringList> m_rooms; // "core/plan" -> its files

    [[nodiscard]] QString faults(const QStringList &files) const
    {
        return output(m_program,
            QStringList { QStringLiteral("--style=file"), QStringLiteral("--dry-run"), QStringLiteral("-Werror"),
                QStringLiteral("--ferror-limit=1") }
                + files);
    }

private slots:
    void initTestCase()
    {
        m_program = QStandardPaths::findExecutable(QStringLiteral("clang-format"));
        if (m_program.isEmpty())
            QSKIP("clang-format is not installed");
        const QString version = output(m_program, { QStringLiteral("--version") });
        if (!version.contains(QLatin1String(kVersion)))
            QSKIP(qPrintable(QStringLiteral("another clang-format: ") + version.trimmed()));
        const QDir root(QStringLiteral(TRAINYARD_SOURCE_DIR));
        for (const char *folder : { "core", "models", "views", "app", "tests", "tools" }) {
            QDirIterator files(root.filePath(QLatin1String(folder)), { QStringLiteral("*.h"), QStringLiteral("*.cpp") },
                QDir::Files, QDirIterator::Subdirectories);
            while (files.hasNext()) {
                const QString path = root.relativeFilePath(files.next());
                const QString in = path.section(u'/', 0, -2);
                m_rooms[in.section(u'/', 0, in.startsWith(QLatin1String("tests/")) ? 2 : 1)].append(path);
            }
        }
        QVERIFY(m_rooms.size() > 20);
    }

    void everyFileIsFormattedAsTheRepositorySays()
    {
        QStringList files;
        for (auto room = m_rooms.cbegin(); room != m_rooms.cend(); ++room) {
            if (!kNotYet.contains(room.key()))
                files += room.value();
        }
        QVERIFY(!files.isEmpty());
        const QString found = faults(files);
        QVERIFY2(found.isEmpty(), qPrintable(QStringLiteral("scripts/format puts right:\n") + found.left(4000)));
    }

    void roomsThatHaveBeenFormattedAreNotExcused()
    {
        for (const QString &room : kNotYet) {
            QVERIFY2(m_rooms.contains(room), qPrintable(room + QStringLiteral(" is gone: take it off the list")));
            QVERIFY2(!faults(m_rooms.value(room)).isEmpty(),
                qPrintable(room + QStringLiteral(" is formatted: take it off the list")));
        }
    }
};

QTEST_GUILESS_MAIN(TstFormat)
#include "tst_format.moc"
