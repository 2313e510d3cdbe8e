#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Letters of ASCII in one case, whatever the locale: schemes, hosts, names of headers and encodings are compared so.
// Pure, any thread.

#include <string>
#include <string_view>

namespace trainyard::live {

/// Writes A to Z small; every other byte stays.
[[nodiscard]] inline std::string lowered(std::string_view text)
{
    std::string result(text);
    for (char &c : result)
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    return result;
}

} // namespace trainyard::live
