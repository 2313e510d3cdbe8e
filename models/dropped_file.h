#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a file is that someone drops on the window, told by its content. Any thread.

#include <QByteArray>
#include <QString>

class QMimeData;

namespace trainyard {

enum class FileKind { Plan, ModelConfig, ValidationRows, Unknown };

[[nodiscard]] FileKind kindOf(const QByteArray &content);

/// Path of the one local file that a drag carries; empty where it carries something else.
[[nodiscard]] QString droppedFile(const QMimeData *data);

} // namespace trainyard
