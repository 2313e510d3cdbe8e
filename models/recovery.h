#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Unsaved work, kept so that a crash loses nothing: a moment after each edit the plan and the edits that led to it are
// written to a state folder, one file for each running window, and what a window that is gone left there is offered at
// the next start. GUI thread; files are read and written in the background.

#include "core/facts/plan/plan.h"
#include "models/background_queue.h"

#include <QDateTime>
#include <QLockFile>
#include <QObject>
#include <QTimer>

#include <functional>
#include <memory>
#include <vector>

namespace trainyard {

/// A plan with the edits that led to it, as the undo stack has them.
struct UnsavedWork {
    struct Edit {
        /// "Move 8 GPUs Virginia → Oregon"
        QString text;
        /// what it led to
        PlanPtr plan;
    };
    /// before the first edit
    PlanPtr start;
    /// those undone and not yet redone included
    std::vector<Edit> edits;
    /// edits that are in force
    int done = 0;
    /// edits that were in force when the file was last read or written; -1: no file has them
    int saved = -1;
    /// of the plan's file; empty: it has none
    QString path;
    /// fingerprint of the file's content as last read or written (PlanStore)
    QByteArray known;

    [[nodiscard]] const PlanPtr &plan() const { return done > 0 ? edits[std::size_t(done) - 1].plan : start; }
};

struct RecoveredPlan {
    UnsavedWork work;
    QDateTime when;
    /// where it was kept
    QString file;
};

class Recovery : public QObject {
    Q_OBJECT
public:
    /// An empty folder keeps nothing.
    explicit Recovery(QString folder, QObject *parent = nullptr);
    ~Recovery() override;

    /// Asks for the work when it is time to write it, a moment from now.
    void keep(std::function<UnsavedWork()> work);
    void forget();
    /// Looks for what others left; answers with `found`, newest first, once for each.
    void search();
    void discard(const RecoveredPlan &recovered);
    /// Writes what waits, now, and returns when it is on disk.
    void flush();

signals:
    void found(const trainyard::RecoveredPlan &recovered);

private:
    void write();

    QString m_folder, m_file;
    /// tells others that this window lives
    std::unique_ptr<QLockFile> m_lock;
    /// to be written
    std::function<UnsavedWork()> m_waiting;
    QTimer m_delay;
    BackgroundQueue m_queue;
};

/// "“Llama 3 70B” was open with 2 unsaved edits of 14:05 when Trainyard ended unexpectedly."
[[nodiscard]] QString describe(const RecoveredPlan &recovered);
/// The edits that no file has, a line each.
[[nodiscard]] QStringList unsavedEdits(const UnsavedWork &work);

} // namespace trainyard
