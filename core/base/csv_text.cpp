// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/csv_text.h"

namespace trainyard {

std::string csvField(const std::string &text)
{
    // A spreadsheet takes these for the begin of a formula; after an apostrophe it shows the text as it is.
    const bool isFormula = text.find_first_of("=+-@\t\r") == 0;
    if (text.find_first_of(",\"\r\n") == std::string::npos)
        return isFormula ? "'" + text : text;
    std::string quoted = isFormula ? "\"'" : "\"";
    for (const char c : text)
        quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

std::optional<std::vector<std::string>> csvFields(std::string_view line)
{
    std::vector<std::string> fields(1);
    bool isQuoted = false, begins = true;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (isQuoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
            fields.back() += '"';
            ++i;
        } else if (c == '"' && (isQuoted || begins)) {
            isQuoted = !isQuoted;
            begins = false;
        } else if (c == ',' && !isQuoted) {
            fields.emplace_back();
            begins = true;
        } else {
            fields.back() += c;
            begins = false;
        }
    }
    if (isQuoted)
        return std::nullopt;
    for (std::string &field : fields) // what csvField() puts before a formula
        if (field.size() > 1 && field[0] == '\'' && field.find_first_of("=+-@\t\r") == 1)
            field.erase(0, 1);
    return fields;
}

} // namespace trainyard
