// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json_parser_internal.h"

#include "core/base/printable.h"

#include <algorithm>
#include <utility>

namespace trainyard::detail {

std::string lineAndColumn(std::string_view text, std::size_t position)
{
    const std::size_t end = std::min(position > 0 ? position - 1 : 0, text.size());
    const auto before = text.substr(0, end);
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::size_t lineStart = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return std::to_string(line) + ":" + std::to_string(end - lineStart + 1);
}

/// nlohmann's message is "[json...] parse error at line 1, column 2: <this>".
std::string syntaxReason(std::string message)
{
    for (const std::string_view mark : { "column ", "] " }) {
        if (const auto at = message.find(mark); at != std::string::npos) {
            const auto colon = mark == "column " ? message.find(": ", at) : at;
            if (colon != std::string::npos) {
                message = message.substr(colon + 2);
                break;
            }
        }
    }
    return shortened(printable(message), 160);
}

std::string pythonsWord(std::string_view text, std::size_t position)
{
    // The parser stands behind the first byte that it does not know: the word begins there or a little before.
    for (const auto &[python, json] : { std::pair<std::string_view, std::string_view> { "True", "true" },
             { "False", "false" }, { "None", "null" } }) {
        const std::size_t from = position > 0 ? position - 1 : 0;
        if (text.substr(std::min(from, text.size())).starts_with(python))
            return std::string(json) + ", as JSON has it: " + std::string(python) + " is Python's";
    }
    return {};
}

std::string escapedPointerStep(std::string_view key)
{
    std::string step;
    for (const char c : shortened(key, kMaxShownKey))
        step += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    return step;
}

} // namespace trainyard::detail
