// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/watched_paths.h"

#include <QCryptographicHash>
#include <QDateTime>
#include <QDirIterator>
#include <QFileInfo>

namespace trainyard {

namespace {

constexpr int kPollMs = 2000, kLeastMs = 1000; // between two looks
constexpr int kMostFiles = 20000, kMostFolders = 200; // of a fingerprint; of the system's notices

void add(QCryptographicHash &hash, const QFileInfo &file)
{
    hash.addData(file.filePath().toUtf8());
    const qint64 facts[] = { file.exists() ? file.size() : -1, file.lastModified().toMSecsSinceEpoch() };
    hash.addData(QByteArrayView(reinterpret_cast<const char *>(facts), sizeof facts));
}

/// Files, and folders with what is in them: what the system is asked to tell of.
QStringList noticedIn(const QStringList &paths)
{
    QStringList found;
    for (const QString &path : paths)
        if (QFileInfo(path).isFile())
            found << path;
    const qsizetype most = found.size() + kMostFolders;
    for (const QString &path : paths) {
        if (!QFileInfo(path).isDir())
            continue;
        found << path;
        for (QDirIterator at(path, QDir::Dirs | QDir::NoDotAndDotDot, QDirIterator::Subdirectories);
             at.hasNext() && found.size() < most;)
            found << at.next();
    }
    return found;
}

} // namespace

QByteArray fingerprintOf(const QStringList &paths)
{
    QCryptographicHash hash(QCryptographicHash::Sha1);
    for (const QString &path : paths) {
        const QFileInfo file(path);
        if (!file.isDir()) {
            add(hash, file);
            continue;
        }
        int files = 0;
        for (QDirIterator at(path, QDir::Files, QDirIterator::Subdirectories); at.hasNext() && files < kMostFiles;
             ++files) {
            at.next();
            add(hash, at.fileInfo());
        }
    }
    return hash.result();
}

WatchedPaths::WatchedPaths(QObject *parent)
    : QObject(parent)
{
    m_poll.setInterval(kPollMs);
    m_soon.setSingleShot(true);
    m_soon.setInterval(kLeastMs);
    connect(&m_poll, &QTimer::timeout, this, &WatchedPaths::look);
    connect(&m_soon, &QTimer::timeout, this, &WatchedPaths::look);
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, this, &WatchedPaths::lookSoon);
    connect(&m_watcher, &QFileSystemWatcher::directoryChanged, this, &WatchedPaths::lookSoon);
}

void WatchedPaths::watch(const QStringList &paths, const QByteArray &known)
{
    ++m_generation;
    if (const QStringList old = m_watcher.files() + m_watcher.directories(); !old.isEmpty())
        m_watcher.removePaths(old);
    m_paths = paths;
    m_known = known;
    m_isLooking = false;
    m_soon.stop();
    if (paths.isEmpty()) {
        m_poll.stop();
        return;
    }
    m_poll.start();
    m_queue.run(
        this, [paths] { return noticedIn(paths); },
        [this, generation = m_generation](const QStringList &noticed) {
            if (generation == m_generation && !noticed.isEmpty())
                m_watcher.addPaths(noticed);
        });
    if (!known.isEmpty())
        lookSoon(); // what changed while it was read
}

void WatchedPaths::lookSoon()
{
    if (!m_soon.isActive())
        m_soon.start();
}

void WatchedPaths::look()
{
    if (std::exchange(m_isLooking, true))
        return;
    m_soon.stop();
    m_poll.start(); // the next is a whole interval away
    m_queue.run(
        this, [paths = m_paths] { return fingerprintOf(paths); },
        [this, generation = m_generation](const QByteArray &now) {
            if (generation != m_generation)
                return;
            m_isLooking = false;
            const QByteArray before = std::exchange(m_known, now);
            if (!before.isEmpty() && before != now)
                emit changed();
        });
}

} // namespace trainyard
