// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/argument_dump.h"

#include "core/runs/telemetry/readers/reading_bounds_internal.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>

namespace trainyard::readers {

namespace {

constexpr int kMostLines = 20000; // of a dump, with what other processes print into it

bool isName(std::string_view text)
{
    return !text.empty() && text.size() <= kLongestArgumentName && (isLetter(text[0]) || text[0] == '_')
        && std::ranges::all_of(text, [](char c) { return isLetter(c) || isDigit(c) || c == '_' || c == '-'; });
}

bool isDashes(std::string_view text)
{
    return text.size() > 4 && text.find_first_not_of('-') == text.npos;
}

} // namespace

bool takeArgument(std::string_view line, std::string_view prefix, Arguments &arguments)
{
    line = trimmed(line);
    const std::size_t nameEnd = line.find(' ');
    const std::string_view name = line.substr(0, nameEnd);
    if (nameEnd == line.npos || !isName(name) || arguments.size() >= kMostArguments)
        return false;
    std::string_view rest = line.substr(nameEnd + 1);
    const std::size_t dots = std::min(rest.find_first_not_of('.'), rest.size());
    // 48 columns less the name; a longer name is followed by two blanks
    if ((dots == 0 && name.size() < 47) || (dots < rest.size() && rest[dots] != ' '))
        return false;
    rest = trimmed(rest.substr(dots));
    arguments[std::string(prefix) + std::string(name)] = rest.substr(0, kLongestArgumentValue);
    return true;
}

bool ArgumentDump::take(std::string_view line)
{
    const std::string_view text = trimmed(line);
    if (const std::size_t at = text.find(" arguments -----"); at != text.npos) {
        const std::string_view before = text.substr(0, at);
        const bool isEnd = before.ends_with("end of");
        if (!isEnd && !isDashes(before.substr(before.find_last_of(' ') + 1)))
            return false;
        m_isInside = !isEnd;
        m_dumps += isEnd ? 0 : 1;
        m_lines = 0;
        return true;
    }
    if (!m_isInside || ++m_lines > kMostLines)
        return false;
    Arguments one;
    if (!takeArgument(line, "", one))
        return false;
    auto &[name, value] = *one.begin();
    const auto [known, isNew] = m_arguments.try_emplace(name);
    if (isNew && m_arguments.size() > kMostArguments) {
        m_arguments.erase(known);
        return true;
    }
    m_changed += !known->second.empty() && known->second != value ? 1 : 0;
    if (isNew || known->second != value)
        m_news[name] = value;
    known->second = std::move(value);
    return true;
}

} // namespace trainyard::readers
