#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Words of the window's commands in the reader's language. They have one context, whichever file adds a command.

#include <QCoreApplication>
#include <QString>

namespace trainyard {

/// A command's group, name or sentence, translated.
[[nodiscard]] inline QString commandText(const char *source)
{
    return QCoreApplication::translate("WindowCommands", source);
}

} // namespace trainyard
