#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What files and folders are that someone drops on the window, told by their content. Any thread.

#include <QByteArray>
#include <QString>
#include <QStringList>

class QMimeData;

namespace trainyard {

enum class FileKind { Plan, Session, ModelConfig, ValidationRows, Sweep, Recording, Unknown };

/// never Recording or Sweep
[[nodiscard]] FileKind kindOf(const QByteArray &content);
/// Folders, large files and whatever is neither of the others are recordings: their readers say what they are.
[[nodiscard]] FileKind kindOfFile(const QString &path);

/// Path of the one local file that a drag carries; empty where it carries something else.
[[nodiscard]] QString droppedFile(const QMimeData *data);
/// All local files and folders that a drag carries.
[[nodiscard]] QStringList droppedFiles(const QMimeData *data);

} // namespace trainyard
