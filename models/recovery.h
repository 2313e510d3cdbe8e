#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Unsaved work, kept so that a crash loses at most the last edit: each edit, undo, redo and save goes to a journal in a
// state folder, one file for each running window, and what a window that is gone left there is offered at the next
// start. GUI thread; files are read and written in the background.
//
// keep() returns when what it was told before is on disk, and waits for that 50 ms at most. Where the disk takes longer
// it does not wait again until all is on disk: a window does not freeze for a disk that hangs, and what was edited
// meanwhile, the newest alone, goes to disk as soon as it answers. Of that a crash loses all. A disk that does not
// answer for five seconds, or cannot be written, is told once.

#include "models/background_queue.h"
#include "models/unsaved_work.h"

#include <QElapsedTimer>
#include <QObject>
#include <QSet>
#include <QStringList>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace trainyard {

class Recovery : public QObject {
    Q_OBJECT
public:
    /// An empty folder keeps nothing.
    explicit Recovery(QString folder, QObject *parent = nullptr);
    ~Recovery() override;

    /// Tells how the work on a plan stands now, whole; what differs from before is written, found by the addresses of
    /// the plans. `variant`: whose work, where a window has several. Work that is clean makes no file of its own.
    void keep(UnsavedWork work, const QString &variant = {});
    /// The work on this variant is given up.
    void forget(const QString &variant);
    /// All that this window kept is given up.
    void forget();
    /// Looks for what others left; answers with `found` and `meetingFound`, newest first, once for each.
    void search();
    void discard(const RecoveredPlan &recovered);
    /// It is this window's work from now on, and kept as such: the old copy goes once that is on disk.
    void adopt(const RecoveredPlan &recovered);
    /// Returns when what was told is on disk, and what was searched is found.
    void flush();
    /// In place of 50 ms.
    void setLongestWait(std::chrono::milliseconds wait) { m_longestWait = wait; }

signals:
    void found(const trainyard::RecoveredPlan &recovered);
    /// In place of found() for each of them: variants of one meeting, two or more.
    void meetingFound(const std::vector<trainyard::RecoveredPlan> &variants);
    /// A sentence about work that is not kept, or cannot be read.
    void warned(const QString &sentence);

private:
    struct Writing;

    void put(const QString &variant, std::optional<UnsavedWork> work);
    void awaitEarlier();
    void warnOnce(const QString &reason);
    void tell(const std::vector<RecoveredPlan> &plans);

    QString m_folder, m_file;
    /// shared with the background
    std::shared_ptr<Writing> m_writing;
    QSet<QString> m_variants;
    std::chrono::milliseconds m_longestWait { 50 };
    /// since a wait was in vain; invalid: the disk keeps up
    QElapsedTimer m_late;
    bool m_isWarned = false;
    BackgroundQueue m_search, m_queue;
};

/// "“Llama 3 70B” was open with 2 unsaved edits of 14:05 when Trainyard ended unexpectedly."
[[nodiscard]] QString describe(const RecoveredPlan &recovered);
/// "A meeting of 3 variants, “A”, “B” and “C”, was open with 5 unsaved edits of 14:05 when Trainyard ended
/// unexpectedly."
[[nodiscard]] QString describe(const std::vector<RecoveredPlan> &meeting);
/// What it is called: by its session, its plan or its file; empty: nothing says.
[[nodiscard]] QString nameOf(const RecoveredPlan &recovered);
/// The edits that no file has, a line each.
[[nodiscard]] QStringList unsavedEdits(const UnsavedWork &work);

} // namespace trainyard
