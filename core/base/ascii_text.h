#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Letters and blanks of ASCII, whatever the locale: what is read of files, headers and command lines, without blanks
// around it or in one case. Pure, any thread.

#include <string>
#include <string_view>

namespace trainyard {

/// Space, tab, ends of lines and pages, and the zeros that fill fields of fixed width.
[[nodiscard]] constexpr bool isAsciiSpace(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0';
}

[[nodiscard]] constexpr std::string_view trimmedStart(std::string_view text)
{
    while (!text.empty() && isAsciiSpace(text.front()))
        text.remove_prefix(1);
    return text;
}
/// Without the blanks around it.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text)
{
    text = trimmedStart(text);
    while (!text.empty() && isAsciiSpace(text.back()))
        text.remove_suffix(1);
    return text;
}

/// A to Z small; every other byte stays.
[[nodiscard]] inline std::string lowered(std::string_view text)
{
    std::string result(text);
    for (char &c : result)
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    return result;
}

} // namespace trainyard
