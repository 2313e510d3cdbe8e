#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A terminal in the place of a program's standard error: there it tells how far it is, so that a test can wait for
// that.

#include <QProcess>
#include <QRegularExpression>
#include <QString>
#include <QTest>

#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace trainyard::test {

class Terminal {
public:
    Terminal()
        : m_own(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC))
    {
        if (m_own < 0 || ::grantpt(m_own) != 0 || ::unlockpt(m_own) != 0)
            qFatal("There is no terminal here");
        m_programs = ::open(::ptsname(m_own), O_RDWR | O_NOCTTY | O_CLOEXEC);
        ::fcntl(m_own, F_SETFL, O_NONBLOCK);
    }
    ~Terminal()
    {
        ::close(m_programs);
        ::close(m_own);
    }
    Terminal(const Terminal &) = delete;
    Terminal &operator=(const Terminal &) = delete;

    /// Before it is started.
    void serve(QProcess &process) const
    {
        process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        process.setChildProcessModifier([programs = m_programs] { ::dup2(programs, STDERR_FILENO); });
    }
    /// All that was written so far.
    const QString &text()
    {
        char block[4096];
        for (ssize_t size = 0; (size = ::read(m_own, block, sizeof block)) > 0;)
            m_text += QString::fromUtf8(block, size);
        return m_text;
    }
    /// Until what was written holds a match of this, or the program has ended: then false.
    bool waitFor(const QProcess &process, const QRegularExpression &wanted)
    {
        const auto isThere = [&] { return text().contains(wanted); };
        const auto isOver = [&] { return process.state() == QProcess::NotRunning; };
        return QTest::qWaitFor([&] { return isThere() || isOver(); }, 60'000) && isThere();
    }

private:
    int m_own, m_programs;
    QString m_text;
};

} // namespace trainyard::test
