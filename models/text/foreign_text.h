#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Text of others as it may stand in the window: a file may be called anything, with line breaks, marks that turn the
// direction of writing, what looks like HTML, and at any length. Pure.

#include <QString>

namespace trainyard {

/// Control characters and marks of writing direction escaped, at most some `most` bytes: beginning and end with …
/// between them.
[[nodiscard]] QString foreignText(const QString &text, int most = 200);
/// A file's name without its folder, likewise.
[[nodiscard]] QString fileText(const QString &path);
/// The same where & would make a shortcut of the letter behind it: entries of menus, buttons.
[[nodiscard]] QString fileLabel(const QString &path);
/// The whole path, with the separators of this system.
[[nodiscard]] QString pathText(const QString &path);
/// For tooltips, which Qt takes for HTML where it looks like that: it is shown as it is.
[[nodiscard]] QString plainTip(const QString &text);

} // namespace trainyard
