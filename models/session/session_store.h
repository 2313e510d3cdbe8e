#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A session file on disk, perhaps in a folder that several people share: reads and writes it in the background and
// watches it. What another program has written meanwhile is merged into what is written (session_merge.h), under a
// lock, so that two windows on one file lose nothing. GUI thread; every answer comes as a signal.

#include "core/base/error.h"
#include "core/facts/session/session_merge.h"
#include "models/background_queue.h"

#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>

namespace trainyard {

class SessionStore : public QObject {
    Q_OBJECT
public:
    explicit SessionStore(QObject *parent = nullptr);
    ~SessionStore() override;

    void read(const QString &path);
    /// One after the other: only when the answer to the last has come and been taken (isWriting()).
    void write(const Session &session, const QString &path);
    [[nodiscard]] bool isWriting() const { return m_isWriting; }
    /// From now on no file is watched.
    void leave();
    /// As it was last read or written here.
    [[nodiscard]] const Session &known() const { return m_known; }
    [[nodiscard]] const QString &path() const { return m_path; }

signals:
    void sessionRead(const QString &path, const trainyard::Session &session);
    /// `merge.session` is what the file holds now: what was asked for and what others had done meanwhile. `asked`: what
    /// was to be written.
    void sessionWritten(const QString &path, const trainyard::SessionMerge &merge, const trainyard::Session &asked);
    void readFailed(const QString &path, const trainyard::Errors &errors);
    void writeFailed(const QString &path, const trainyard::Errors &errors);
    /// Somebody else wrote the file: as it is there now, once for each content.
    void changedByOthers(const trainyard::Session &theirs);
    /// There is no file any more.
    void removedByOthers();

private:
    void watch(const QString &path, const Session &known);
    void look();

    QFileSystemWatcher m_watcher;
    /// editors write a file in several steps
    QTimer m_settle;
    QString m_path;
    /// m_told: what changedByOthers() told of last
    Session m_known, m_told;
    bool m_isWriting = false, m_isMissing = false;
    /// last: its jobs use nothing of this, but answers come to it
    BackgroundQueue m_queue;
};

} // namespace trainyard
