#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a file is that someone drops on the window, told by its content. Any thread.

#include <QByteArray>

namespace trainyard {

enum class FileKind { Plan, ModelConfig, ValidationRows, Unknown };

[[nodiscard]] FileKind kindOf(const QByteArray &content);

} // namespace trainyard
