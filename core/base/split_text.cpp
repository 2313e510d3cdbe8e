// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/split_text.h"

#include "core/base/ascii_text.h"

#include <string>

namespace trainyard {

Expected<std::vector<std::string_view>> splitOutside(std::string_view text, char separator)
{
    std::vector<std::string_view> pieces;
    std::string open; // brackets that wait for their end
    bool isQuoted = false;
    std::size_t begin = 0;
    const auto fault = [](const std::string &what, const std::string &right) {
        return std::unexpected(Error { ErrorCode::BadSyntax, {}, what, right });
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (isQuoted) {
            if (c == '\\')
                ++i;
            else if (c == '"')
                isQuoted = false;
        } else if (c == '"') {
            isQuoted = true;
        } else if (c == '[' || c == '{') {
            open += c == '[' ? ']' : '}';
        } else if (c == ']' || c == '}') {
            if (open.empty() || open.back() != c)
                return fault(std::string("a ") + c + " that nothing opened", "brackets in pairs");
            open.pop_back();
        } else if (c == separator && open.empty()) {
            pieces.push_back(trimmed(text.substr(begin, i - begin)));
            begin = i + 1;
        }
    }
    if (isQuoted)
        return fault("a quote is not closed", "quotes in pairs");
    if (!open.empty())
        return fault("a bracket is not closed", std::string("a ") + open.back());
    pieces.push_back(trimmed(text.substr(begin)));
    return pieces;
}

} // namespace trainyard
