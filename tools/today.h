#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The date that fitted files carry.

#include <ctime>
#include <string>

namespace trainyard {

/// "2026-11-21", in UTC.
inline std::string today()
{
    const std::time_t now = std::time(nullptr);
    char text[16];
    std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
    return text;
}

} // namespace trainyard
