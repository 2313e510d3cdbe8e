// SPDX-License-Identifier: GPL-3.0-or-later
// Words of a script: quotes, escapes, and what variables, defaults and sums put in.
#include "core/runs/telemetry/readers/integer_expression.h"
#include "core/runs/telemetry/readers/shell_script.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>

namespace trainyard::readers {

namespace {

constexpr std::size_t kMostDefaults = 100;
constexpr std::size_t kMostMade = std::size_t(32) << 20, kMostFields = 20'000, kLongestWord = 1 << 18;
constexpr int kMostExpansionDepth = 16;

std::string joinedBy(char joint, const std::vector<std::string> &words)
{
    std::string all;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0)
            all += joint;
        all += words[i];
    }
    return all;
}

} // namespace

void ShellScript::add(Word &word, std::string_view text)
{
    if (word.fields.empty())
        word.fields.emplace_back();
    m_made += text.size();
    std::string &last = word.fields.back();
    if (m_made > kMostMade || last.size() + text.size() > kLongestWord) {
        if (!isUnknown(last))
            last += kUnknownPart;
        return;
    }
    last += text;
}

/// The word at the front; it ends at a blank, a line's end or one of `ends`.
ShellScript::Word ShellScript::word(std::string_view ends)
{
    Word word;
    for (; !isEnd();) {
        const char c = peek();
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || ends.find(c) != ends.npos)
            break;
        if (c == '\\') {
            if (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n')) {
                m_at += peek(1) == '\n' ? 2 : 3;
                break; // what continues a line begins with blanks as a rule
            }
            add(word, m_text.substr(m_at + 1, 1));
            m_at += 2;
            word.isPlain = false;
        } else if (c == '\'') {
            const std::size_t end = m_text.find('\'', m_at + 1);
            m_isCut = m_isCut || end == m_text.npos;
            add(word, m_text.substr(m_at + 1, std::min(end, m_text.size()) - m_at - 1));
            m_at = std::min(end, m_text.size() - 1) + 1;
            word.isPlain = false;
        } else if (c == '"') {
            ++m_at;
            quoted(word);
        } else if (c == '$' || c == '`') {
            expansion(word, false);
        } else {
            std::size_t end = m_at + 1;
            while (end < m_text.size() && (isNameChar(m_text[end]) || m_text[end] == '-' || m_text[end] == '.'))
                ++end;
            add(word, m_text.substr(m_at, end - m_at));
            m_at = end;
        }
    }
    return word;
}

/// Behind the opening double quote.
void ShellScript::quoted(Word &word)
{
    word.isPlain = false;
    add(word, "");
    while (!isEnd()) {
        const char c = peek();
        if (c == '"') {
            ++m_at;
            return;
        }
        if (c == '\\') {
            const char next = peek(1);
            if (next == '\n')
                add(word, " ");
            else if (next == '"' || next == '$' || next == '\\' || next == '`')
                add(word, std::string_view(&m_text[m_at + 1], 1));
            else
                add(word, m_text.substr(m_at, 2));
            m_at += 2;
        } else if (c == '$' || c == '`') {
            expansion(word, true);
        } else {
            const std::size_t end = std::min(m_text.find_first_of("\"\\$`", m_at), m_text.size());
            add(word, m_text.substr(m_at, end - m_at));
            m_at = end;
        }
    }
    m_isCut = true;
}

/// Behind the opening bracket, to behind the one that closes it.
void ShellScript::skipBracket(char open, char close)
{
    for (int depth = 1; !isEnd(); ++m_at) {
        depth += peek() == open ? 1 : peek() == close ? -1 : 0;
        if (depth == 0) {
            ++m_at;
            return;
        }
    }
    m_isCut = true;
}

void ShellScript::putIn(Word &word, const Words &value, bool isQuoted, bool isList)
{
    word.isPlain = false;
    for (std::size_t i = 0; i < value.size() && m_made < kMostMade; ++i) {
        if (i > 0 && isQuoted && !isList)
            add(word, " ");
        else if (i > 0 && word.fields.size() < kMostFields)
            word.fields.emplace_back();
        if (isQuoted) {
            add(word, value[i]);
            continue;
        }
        // Unquoted: blanks divide it into words.
        std::string_view rest = value[i];
        if (rest.starts_with(' ') && !word.fields.empty() && !word.fields.back().empty())
            word.fields.emplace_back();
        for (bool isFirst = true; !(rest = trimmedStart(rest)).empty(); isFirst = false) {
            const std::size_t end = std::min(rest.find_first_of(" \t\r\n"), rest.size());
            if (!isFirst && word.fields.size() < kMostFields)
                word.fields.emplace_back();
            add(word, rest.substr(0, end));
            rest = rest.substr(end);
        }
    }
}

/// "$NAME", "${…}", "$(( … ))", "$( … )", "` … `", "$1".
void ShellScript::expansion(Word &word, bool isQuoted)
{
    word.isPlain = false;
    if (peek() == '`') {
        const std::size_t end = m_text.find('`', m_at + 1);
        m_at = std::min(end, m_text.size() - 1) + 1;
        return add(word, unknownPart());
    }
    ++m_at;
    if (peek() == '(' && peek(1) == '(') {
        m_at += 2;
        const std::size_t begin = m_at;
        skipBracket('(', ')');
        const std::string_view inside = m_text.substr(begin, m_at - begin - (m_at > begin ? 1 : 0));
        m_at += peek() == ')' ? 1 : 0;
        return add(word, arithmetic(inside));
    }
    if (peek() == '(') {
        const std::size_t begin = ++m_at;
        skipBracket('(', ')');
        const auto text = printed(m_text.substr(begin, m_at - begin - (m_at > begin ? 1 : 0)));
        return text ? putIn(word, { *text }, isQuoted, false) : add(word, unknownPart());
    }
    if (peek() == '{') {
        ++m_at;
        return braced(word, isQuoted);
    }
    std::size_t end = m_at;
    while (end < m_text.size() && isNameChar(m_text[end]) && (end > m_at || !isDigit(m_text[end])))
        ++end;
    if (end == m_at) {
        const bool isParameter = isDigit(peek()) || std::string_view("@*#?$!").find(peek()) != std::string_view::npos;
        m_at += isParameter && !isEnd() ? 1 : 0;
        return add(word, isParameter ? unknownPart() : std::string("$"));
    }
    const std::string_view name = m_text.substr(m_at, end - m_at);
    const auto known = m_variables.find(name);
    m_at = end;
    if (known == m_variables.end() || known->second.empty())
        return add(word, known == m_variables.end() ? unknownPart(name) : std::string());
    putIn(word, { known->second.front() }, isQuoted, false);
}

/// Behind "${".
void ShellScript::braced(Word &word, bool isQuoted)
{
    std::size_t end = m_at;
    while (end < m_text.size() && isNameChar(m_text[end]))
        ++end;
    const std::string name(m_text.substr(m_at, end - m_at));
    const std::string unknown = unknownPart(name);
    std::string_view rest = m_text.substr(end);
    const bool isJoined = takeText(rest, "[*]"), isList = isJoined || takeText(rest, "[@]");
    m_at = m_text.size() - rest.size();
    const auto known = m_variables.find(name);
    const bool isKnown = known != m_variables.end();
    if (takeText(rest, "}")) {
        ++m_at;
        if (!isKnown)
            return add(word, unknown);
        if (isJoined && isQuoted)
            return add(word, joinedBy(m_listJoint, known->second));
        return isList ? putIn(word, known->second, isQuoted, true)
                      : putIn(word, { known->second.empty() ? std::string() : known->second.front() }, isQuoted, false);
    }
    const bool hasColon = takeText(rest, ":");
    const char how = rest.empty() ? '\0' : rest.front();
    if (name.empty() || (how != '-' && how != '=' && how != '+' && how != '?') || ++m_depth > kMostExpansionDepth) {
        skipBracket('{', '}');
        return add(word, unknown);
    }
    m_at += hasColon ? 2 : 1;
    Word other;
    for (other.fields.emplace_back(); !isEnd() && peek() != '}';) {
        const std::size_t before = m_at;
        const Word part = this->word("}");
        for (std::size_t i = 0; i < part.fields.size(); ++i)
            add(other, (i > 0 ? " " : "") + part.fields[i]);
        for (; peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r'; ++m_at)
            add(other, " ");
        m_at += m_at == before ? 1 : 0;
    }
    --m_depth;
    m_isCut = m_isCut || isEnd();
    m_at += isEnd() ? 0 : 1;
    const bool isSet = isKnown && !known->second.empty() && !(hasColon && known->second.front().empty());
    if (how == '+')
        return isSet ? putIn(word, other.fields, isQuoted, false) : add(word, isKnown ? std::string() : unknown);
    if (!isSet && how == '?')
        return add(word, unknown);
    if (!isKnown && !other.fields.empty() && !other.fields.front().empty() && m_defaults.size() < kMostDefaults
        && !isUnknown(other.fields.front()))
        m_defaults.try_emplace(name, other.fields.front());
    if (!isSet && how == '=' && m_isLive && m_runs)
        m_variables[name] = other.fields;
    putIn(word, isSet ? Words { known->second.front() } : other.fields, isQuoted, false);
}

std::string ShellScript::expanded(std::string_view text)
{
    m_text = text;
    m_at = 0;
    Word word;
    word.fields.emplace_back();
    while (!isEnd())
        if (peek() == '$') {
            expansion(word, true);
        } else {
            const std::size_t end = std::min(m_text.find('$', m_at), m_text.size());
            add(word, m_text.substr(m_at, end - m_at));
            m_at = end;
        }
    return word.fields.front();
}

std::string ShellScript::arithmetic(std::string_view text) const
{
    const auto value = integerExpression(text, [&](std::string_view name) { return wholeOf(name); });
    return value ? std::to_string(*value) : unknownOf(text);
}

} // namespace trainyard::readers
