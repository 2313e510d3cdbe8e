#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a crash must not take: a plan with the edits that led to it, as it is handed to Recovery and as a later start
// finds it. Values; any thread.

#include "core/facts/plan/plan.h"

#include <QByteArray>
#include <QDateTime>
#include <QString>

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
    /// What its session says of it and has nowhere else, as SessionDocument writes it: name, note, decisions. Empty:
    /// nothing.
    QString about;
    /// The plan is elsewhere as it is, so nothing of it is to be recovered; its edits may be undone, though.
    bool isClean = false;

    [[nodiscard]] const PlanPtr &plan() const { return done > 0 ? edits[std::size_t(done) - 1].plan : start; }
};

struct RecoveredPlan {
    UnsavedWork work;
    QDateTime when;
    /// where it was kept
    QString file;
    /// whose work it is among those of the file (Recovery::keep)
    QString variant;
    /// What was written later cannot be read.
    bool isDamaged = false;
};

} // namespace trainyard
