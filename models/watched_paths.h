#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Files and folders that a run is still writing: tells when something in them is another than it was, at most once a
// second. The system's notices come first; a poll finds what network drives do not tell. GUI thread; the folders are
// walked in the background.

#include "models/background_queue.h"

#include <QByteArray>
#include <QFileSystemWatcher>
#include <QStringList>
#include <QTimer>

namespace trainyard {

/// Names, sizes and times of all files of the paths, as one value: equal where nothing changed. Any thread.
[[nodiscard]] QByteArray fingerprintOf(const QStringList &paths);

class WatchedPaths : public QObject {
    Q_OBJECT
public:
    explicit WatchedPaths(QObject *parent = nullptr);

    /// `known`: what they were when they were read; they are looked at from now on. No paths: nothing is watched.
    void watch(const QStringList &paths, const QByteArray &known = {});
    [[nodiscard]] bool isWatching() const { return !m_paths.isEmpty(); }

signals:
    void changed();

private:
    void look();
    void lookSoon();

    QStringList m_paths;
    QByteArray m_known;
    bool m_isLooking = false;
    std::uint64_t m_generation = 0;
    QFileSystemWatcher m_watcher;
    QTimer m_poll, m_soon;
    /// last: its work uses what is above
    BackgroundQueue m_queue;
};

} // namespace trainyard
