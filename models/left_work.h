#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What windows that ended unexpectedly left in the state folder: journals, and the files of versions before there were
// any. Reads and removes files, so not for the GUI thread.

#include "models/unsaved_work.h"

#include <QStringList>

namespace trainyard {

inline const QString kJournalSuffix = QStringLiteral(".journal");

struct LeftWork {
    /// newest first
    std::vector<RecoveredPlan> plans;
    /// Journals in which nothing can be read though something was kept. They are told once: their names end in
    /// ".damaged" from then on.
    QStringList unreadable;
};

/// Of windows that live no more; `own`: the file of this window. Files in which nothing is unsaved are removed.
[[nodiscard]] LeftWork readLeft(const QString &folder, const QString &own);
/// The other variants of its file stay.
void removeLeft(const RecoveredPlan &recovered);

} // namespace trainyard
