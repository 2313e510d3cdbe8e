#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Unsaved work, kept so that a crash loses nothing: a moment after each edit the plan is written to a state folder, one
// file for each running window, and what a window that is gone left there is offered at the next start. GUI thread;
// files are read and written in the background.

#include "core/plan/plan.h"
#include "models/background_queue.h"

#include <QDateTime>
#include <QLockFile>
#include <QObject>
#include <QTimer>

#include <memory>

namespace trainyard {

struct RecoveredPlan {
    PlanPtr plan;
    QString path;                  // of the plan's file; empty: it had none
    QDateTime when;
    QString file;                  // where it was kept
};

class Recovery : public QObject {
    Q_OBJECT
public:
    /// An empty folder keeps nothing.
    explicit Recovery(QString folder, QObject *parent = nullptr);
    ~Recovery() override;

    void keep(const PlanPtr &plan, const QString &path);
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
    std::unique_ptr<QLockFile> m_lock;     // tells others that this window lives
    PlanPtr m_plan;                        // waiting to be written
    QString m_path;
    QTimer m_delay;
    BackgroundQueue m_queue;
};

/// "“Llama 3 70B” with unsaved changes of 14:05 was open when Trainyard ended unexpectedly."
[[nodiscard]] QString describe(const RecoveredPlan &recovered);

} // namespace trainyard
