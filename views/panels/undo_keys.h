#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Text fields take the keys of undo for themselves; those whose text is entered leave them to the document.

#include <QKeyEvent>
#include <QKeySequence>

namespace trainyard {

/// Keys of undo and redo, those of the platform and of the menu.
[[nodiscard]] inline bool isUndoKey(const QKeyEvent &key)
{
    return key.matches(QKeySequence::Undo) || key.matches(QKeySequence::Redo)
        || key.keyCombination() == QKeyCombination(Qt::CTRL, Qt::Key_Y)
        || key.keyCombination() == QKeyCombination(Qt::CTRL | Qt::SHIFT, Qt::Key_Z);
}

} // namespace trainyard
