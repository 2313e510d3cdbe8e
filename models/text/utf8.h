#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// From the strings of the core, which are UTF-8, to those of the window. Pure.

#include <QString>

#include <string>

namespace trainyard {

/// The same text as a string of the window.
[[nodiscard]] inline QString fromUtf8(const std::string &text)
{
    return QString::fromStdString(text);
}

} // namespace trainyard
