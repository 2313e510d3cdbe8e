// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/markdown_text.h"

namespace trainyard::markup {

std::string markdownText(std::string_view text)
{
    std::string safe;
    for (const char c : text) {
        if (std::string_view("|\\`*_<>[]#").find(c) != std::string_view::npos)
            safe += '\\';
        safe += c == '\n' ? ' ' : c;
    }
    return safe;
}

} // namespace trainyard::markup
