// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/session_store.h"

#include "core/facts/session/session_io.h"

#include <QFileInfo>
#include <QLockFile>

#include <chrono>
#include <optional>
#include <utility>

namespace trainyard {

namespace {

constexpr int kSettleMs = 150;
/// another window writes for milliseconds; one that hangs must not hang this one for good
constexpr std::chrono::seconds kLongestLock { 5 };

/// `base`: null where the file was chosen in a dialog, which asks before it is written over.
ExpectedAll<SessionMerge> written(const std::optional<Session> &base, const Session &session, const QString &path)
{
    // Beside the file, so that other machines that share the folder see it too.
    QLockFile lock(path + QStringLiteral(".lock"));
    lock.setStaleLockTime(std::chrono::seconds(30));
    const bool isLocked = lock.tryLock(kLongestLock);
    if (!isLocked && lock.error() == QLockFile::LockFailedError)
        return std::unexpected(Errors { { ErrorCode::CannotWrite, path.toStdString(), "another program is writing it",
            "a file that nobody else writes at this moment" } });
    SessionMerge merge { session, {}, {} };
    if (QFileInfo::exists(path)) {
        const auto there = readSession(path.toStdString());
        if (!there)
            return std::unexpected(there.error()); // not a session, or broken: it is not written over
        if (base && *there != *base)
            merge = mergeSessions(*base, session, *there);
    }
    if (const auto answer = writeSession(merge.session, path.toStdString()); !answer)
        return std::unexpected(Errors { answer.error() });
    return merge;
}

} // namespace

SessionStore::SessionStore(QObject *parent)
    : QObject(parent)
{
    m_settle.setSingleShot(true);
    m_settle.setInterval(kSettleMs);
    connect(&m_settle, &QTimer::timeout, this, &SessionStore::look);
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, &m_settle, qOverload<>(&QTimer::start));
    connect(&m_watcher, &QFileSystemWatcher::directoryChanged, &m_settle, qOverload<>(&QTimer::start));
}

SessionStore::~SessionStore() = default;

void SessionStore::read(const QString &path)
{
    m_queue.run(
        this, [path] { return readSession(path.toStdString()); },
        [this, path](const ExpectedAll<Session> &session) {
            if (!session) {
                emit readFailed(path, session.error());
                return;
            }
            watch(path, *session);
            emit sessionRead(path, *session);
        });
}

void SessionStore::write(const Session &session, const QString &path)
{
    m_isWriting = true;
    const std::optional<Session> base = path == m_path ? std::optional(m_known) : std::nullopt;
    m_queue.run(
        this, [base, session, path] { return written(base, session, path); },
        [this, path, session](const ExpectedAll<SessionMerge> &merge) {
            m_isWriting = false;
            if (!merge) {
                emit writeFailed(path, merge.error());
                return;
            }
            watch(path, merge->session);
            emit sessionWritten(path, *merge, session);
        });
}

void SessionStore::leave()
{
    watch({}, {});
}

void SessionStore::watch(const QString &path, const Session &known)
{
    m_path = path;
    m_isMissing = false;
    m_known = known;
    m_told = known;
    if (const QStringList watched = m_watcher.files() + m_watcher.directories(); !watched.isEmpty())
        m_watcher.removePaths(watched);
    if (!path.isEmpty()) // the folder too: a file that is replaced ends the watch on it
        m_watcher.addPaths({ path, QFileInfo(path).absolutePath() });
}

void SessionStore::look()
{
    if (m_path.isEmpty())
        return;
    m_queue.run(
        this, [path = m_path] { return readSession(path.toStdString()); },
        [this, path = m_path](const ExpectedAll<Session> &there) {
            if (path != m_path)
                return;
            if (!there) { // half written by hand: the next save tells
                if (!QFileInfo::exists(path) && !std::exchange(m_isMissing, true))
                    emit removedByOthers();
                return;
            }
            m_isMissing = false;
            if (!m_watcher.files().contains(path))
                m_watcher.addPath(path);
            if (*there == m_known || *there == m_told)
                return;
            m_told = *there;
            emit changedByOthers(*there);
        });
}

} // namespace trainyard
