#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// trainyard-cli as a script would run it.

#include <QFile>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTest>

#include <string>

namespace trainyard::test {

struct Answer {
    int exitCode = -1; // -1: it ended by a signal or not at all
    std::string out;
    QString err;
};

inline Answer answerOf(QProcess &process)
{
    if (!process.waitForFinished(120'000))
        return {};
    return { process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
        process.readAllStandardOutput().toStdString(), QString::fromUtf8(process.readAllStandardError()) };
}

inline Answer run(const QStringList &arguments, const QByteArray &input = {})
{
    QProcess process;
    process.start(QStringLiteral(TRAINYARD_CLI), arguments);
    process.write(input);
    process.closeWriteChannel();
    return answerOf(process);
}

/// Through a shell, with the program as "$0" and the arguments from "$1" on: for redirections.
inline Answer shell(const QString &script, const QStringList &arguments = {})
{
    QProcess process;
    process.start(QStringLiteral("bash"),
        QStringList { QStringLiteral("-c"), script, QStringLiteral(TRAINYARD_CLI) } + arguments);
    process.closeWriteChannel();
    return answerOf(process);
}

/// What the system has counted of a process that runs: "rchar" is bytes read, "wchar" bytes written; 0 once it has
/// ended.
inline qint64 counted(const QProcess &process, const QByteArray &what)
{
    QFile io(QStringLiteral("/proc/%1/io").arg(process.processId()));
    for (const QByteArray &line : io.open(QIODevice::ReadOnly) ? io.readAll().split('\n') : QList<QByteArray>())
        if (line.startsWith(what + ": "))
            return line.mid(what.size() + 2).toLongLong();
    return 0;
}

/// Waits until a process has read or written so many bytes. False: it ended before.
inline bool hasCounted(const QProcess &process, const QByteArray &what, qint64 bytes)
{
    const auto isRunning = [&] { return process.state() != QProcess::NotRunning; };
    return QTest::qWaitFor([&] { return !isRunning() || counted(process, what) >= bytes; }, 60'000) && isRunning();
}

/// A command line in one string; arguments here hold no spaces.
inline QStringList words(const char *line)
{
    return QString::fromUtf8(line).split(u' ', Qt::SkipEmptyParts);
}

/// A plan among samples/, by its name without the ending.
inline QString sampleFile(const char *name)
{
    return QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/%1.trainyard.json").arg(QLatin1String(name));
}

} // namespace trainyard::test
