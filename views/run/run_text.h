#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Words about a run in the reader's language. They have one context, whichever file of the page says them.

#include <QCoreApplication>
#include <QString>

namespace trainyard {

/// A word or a sentence about a run, translated.
[[nodiscard]] inline QString runText(const char *text)
{
    return QCoreApplication::translate("RunWords", text);
}

} // namespace trainyard
