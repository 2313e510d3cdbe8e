// SPDX-License-Identifier: GPL-3.0-or-later
#include "tools/fits/key_tables.h"

#include "core/base/words.h"

#include <algorithm>
#include <cmath>
#include <regex>
#include <sstream>

namespace trainyard {

namespace {

constexpr const char *kPlanItself = "a plan";
constexpr double kUnbounded = 1e12; // a limit that nothing reaches is not worth a word
constexpr double kAsPower = 1e7;

std::string superscript(const std::string &digits)
{
    static const char *const kDigits[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
    std::string text;
    for (const char digit : digits)
        text += kDigits[digit - '0'];
    return text;
}

/// 8,388,608; 10⁸; 0.5.
std::string figureText(double value)
{
    const double power = std::round(std::log10(std::abs(value)));
    if (value >= kAsPower && value == std::pow(10, power))
        return "10" + superscript(std::to_string(int(power)));
    if (value != std::floor(value))
        return plainNumber(value);
    std::string digits = std::to_string(std::int64_t(std::abs(value)));
    for (int at = int(digits.size()) - 3; at > 0 && std::abs(value) >= 10000; at -= 3)
        digits.insert(std::size_t(at), ",");
    return (value < 0 ? "−" : "") + digits;
}

/// A description with powers and names of keys as a page has them.
std::string marked(const std::string &text)
{
    static const std::regex power("\\^(\\d+)"), name("\\b[a-z]+(\\.[a-z]+)?(_[a-z]+)+\\b");
    std::string out;
    auto from = text.cbegin();
    for (std::sregex_iterator it(text.begin(), text.end(), power), end; it != end; ++it) {
        out.append(from, (*it)[0].first);
        out += superscript((*it)[1]);
        from = (*it)[0].second;
    }
    out.append(from, text.cend());
    return std::regex_replace(out, name, "`$&`");
}

std::string choices(const std::vector<std::string> &names)
{
    std::vector<std::string> quoted;
    for (const std::string &name : names)
        quoted.push_back("`" + name + "`");
    return joined(quoted, ", ", " or ");
}

std::string rangeOf(const KeyRow &row)
{
    const Key &key = row.key;
    std::string text;
    if (row.kind == KeyKind::Choice)
        text = choices(row.choices);
    else if (row.kind == KeyKind::Flag)
        text = "true or false";
    else if (row.kind == KeyKind::Number || row.kind == KeyKind::Whole) {
        const bool isOpen = key.max >= kUnbounded;
        if (key.isAboveMin)
            text = "above " + figureText(key.min) + (isOpen ? "" : ", at most " + figureText(key.max));
        else
            text = isOpen ? "from " + figureText(key.min) : figureText(key.min) + " to " + figureText(key.max);
    }
    return row.isAutomatic ? text + ", or `\"auto\"`" : text;
}

std::string defaultOf(const KeyRow &row)
{
    const bool isNumber = row.kind == KeyKind::Number || row.kind == KeyKind::Whole;
    if (row.key.isRequired || row.kind == KeyKind::Section)
        return row.mayBeMissing ? "none" : "";
    if (row.standard.empty())
        return row.kind == KeyKind::Text ? "empty" : row.kind == KeyKind::Other ? "" : "none";
    if (row.kind == KeyKind::Choice || row.kind == KeyKind::Other || row.isAutomatic)
        return "`" + row.standard + "`";
    if (!isNumber || *row.key.otherwise)
        return marked(row.standard);
    const double number = std::stod(row.standard);
    return number < row.key.min ? "" : figureText(number); // one that no plan may have is none
}

std::string line(const KeyRow &row)
{
    const Key &key = row.key;
    std::string value = marked(key.doc);
    for (const std::string &part :
        { rangeOf(row), std::string(key.more), std::string(key.isRequired ? "required" : "") })
        value += part.empty() ? "" : "; " + part;
    if (key.training != Training::Same)
        value += key.training == Training::DiffersWhereFewer ? "; fewer affects convergence" : "; affects convergence";
    const std::string standard = defaultOf(row);
    return std::string("| `") + key.name + "` | " + value + " |" + (standard.empty() ? "" : " " + standard) + " |\n";
}

std::string sectionOf(const KeyRow &row)
{
    const std::size_t dot = row.path.rfind('.');
    return dot == std::string::npos ? "" : row.path.substr(0, dot);
}

} // namespace

std::string keyTable(const std::string &section)
{
    std::string table = "| key | value | default |\n|---|---|---|\n";
    for (const KeyRow &row : planKeys()) {
        if (sectionOf(row) == section)
            table += line(row);
    }
    return table;
}

std::string withKeyTables(const std::string &page)
{
    static const std::regex marker("<!-- keys of (.+) -->");
    std::string text;
    std::istringstream in(page);
    bool isReplaced = false;
    for (std::string read; std::getline(in, read);) {
        if (isReplaced && read.starts_with('|'))
            continue;
        isReplaced = false;
        text += read + "\n";
        if (std::smatch found; std::regex_match(read, found, marker)) {
            text += keyTable(found[1] == kPlanItself ? "" : found[1].str());
            isReplaced = true;
        }
    }
    return text;
}

std::vector<std::string> keySections()
{
    std::vector<std::string> sections;
    for (const KeyRow &row : planKeys()) {
        if (const std::string section = sectionOf(row); std::ranges::find(sections, section) == sections.end())
            sections.push_back(section);
    }
    return sections;
}

} // namespace trainyard
