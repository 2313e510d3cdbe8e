// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/shell_script.h"

#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <array>

namespace trainyard::readers {

namespace {

constexpr std::size_t kMostCommands = 100'000, kMostWords = 20'000, kMostDirectives = 1000, kMostDocuments = 20,
                      kLongestVariable = 1 << 18;

bool isOneOf(std::string_view text, std::initializer_list<std::string_view> names)
{
    return std::ranges::find(names, text) != names.end();
}

} // namespace

void ShellScript::run(std::string_view text, int depth)
{
    m_text = text;
    m_at = 0;
    m_depth = depth;
    while (!isEnd() && m_commands.size() < kMostCommands) {
        const char c = peek();
        if (!m_branches.empty() && m_branches.back().isPatternNext) {
            takePattern();
        } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
            m_at += peek(1) == '\n' ? 2 : 3;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            ++m_at;
        } else if (c == '#') {
            comment();
        } else if (c == '\n') {
            ++m_at;
            endCommand();
            if (!m_isJoined)
                join(';');
            skipHereDocuments();
        } else if (c == '(' && peek(1) == '(' && m_words.empty() && takeArithmetic()) {
            continue;
        } else if (c == ';' || c == '&' || c == '|' || c == '(' || c == ')') {
            const bool isDouble = peek(1) == c;
            endCommand();
            join(isDouble && (c == '&' || c == '|') ? c : c == '|' ? '?' : ';');
            m_at += isDouble ? 2 : 1;
            if (c == ';' && isDouble && !m_branches.empty() && m_branches.back().isCase)
                m_branches.back().isPatternNext = true;
        } else if (c == '<' || c == '>') {
            const bool isHere = c == '<' && peek(1) == '<' && peek(2) != '<';
            while (peek() == '<' || peek() == '>' || peek() == '&' || peek() == '-' || (isHere && peek() == '~'))
                ++m_at;
            while (peek() == ' ' || peek() == '\t')
                ++m_at;
            const Word target = word(";&|()<>");
            if (isHere && !target.fields.empty() && m_hereEnds.size() < 20)
                m_hereEnds.push_back(target.fields.front());
        } else if (!takeAssignment()) {
            const std::size_t before = m_at;
            take(word(";&|()<>"));
            m_at += m_at == before ? 1 : 0; // a loop's end goes back
        }
    }
    endCommand();
}

void ShellScript::comment()
{
    const std::size_t end = std::min(m_text.find('\n', m_at), m_text.size());
    std::string_view line = m_text.substr(m_at, end - m_at);
    m_at = end;
    if (!takeText(line, "#SBATCH"))
        return;
    line = line.substr(0, line.find(" #"));
    while (!(line = trimmedStart(line)).empty() && m_directives.size() < kMostDirectives) {
        const std::size_t stop = std::min(line.find_first_of(" \t\r"), line.size());
        m_directives.emplace_back(line.substr(0, stop));
        line = line.substr(stop);
    }
}

void ShellScript::skipHereDocuments()
{
    for (const std::string &mark : m_hereEnds) {
        const std::size_t begin = m_at;
        while (!isEnd()) {
            const std::size_t end = std::min(m_text.find('\n', m_at), m_text.size());
            const std::string_view line = trimmed(m_text.substr(m_at, end - m_at));
            const std::size_t before = m_at;
            m_at = std::min(end + 1, m_text.size());
            if (line != mark)
                continue;
            if (m_isLive && m_documents.size() < kMostDocuments)
                m_documents.emplace_back(m_text.substr(begin, std::min(before - begin, kLongestVariable)));
            break;
        }
    }
    m_hereEnds.clear();
}

void ShellScript::endCommand()
{
    if (m_words.empty())
        return;
    if (m_isCondition) {
        if (m_condition.size() < 100)
            m_condition.push_back({ std::move(m_words) });
        m_words.clear();
        return;
    }
    const Outcome outcome = outcomeOf(m_words, Outcome::Yes);
    m_chain = m_joint == '&' && m_chain != Outcome::Yes ? m_chain
        : m_joint == '|' && m_chain == Outcome::Yes     ? m_chain
        : m_joint == '|' && m_chain == Outcome::Unknown ? (outcome == Outcome::Yes ? outcome : m_chain)
                                                        : outcome;
    if (!m_isLive || !m_runs) {
        m_words.clear();
        return;
    }
    if (m_words.size() > 1 && (m_words[0] == "source" || m_words[0] == ".") && m_others.size() < kMostDirectives)
        m_others.push_back(m_words[1].substr(m_words[1].rfind('/') + 1));
    takePrintf();
    runInner();
    if (m_words.size() >= 4 && m_words[0] == "for" && m_words[2] == "in")
        assign(m_words[1], { m_words[3] }, false);
    m_commands.push_back(std::move(m_words));
    m_words.clear();
}

void ShellScript::take(Word word)
{
    m_isJoined = false;
    if (m_words.empty() && word.isPlain && word.fields.size() == 1 && takeKeyword(word.fields[0]))
        return;
    for (std::string &field : word.fields)
        if (m_words.size() < kMostWords)
            m_words.push_back(std::move(field));
}

bool ShellScript::isAssignmentPlace() const
{
    return m_words.empty()
        || (isOneOf(m_words[0], { "export", "declare", "local", "readonly", "typeset" })
            && std::ranges::all_of(m_words, [](const std::string &word) { return word.find('=') == word.npos; }));
}

/// "NAME=value", "NAME+=value", "NAME=( … )" at the front.
bool ShellScript::takeAssignment()
{
    if (!isAssignmentPlace() || !(isLetter(peek()) || peek() == '_'))
        return false;
    std::size_t end = m_at;
    while (end < m_text.size() && isNameChar(m_text[end]))
        ++end;
    const bool isAppended = m_text.substr(end).starts_with("+=");
    if (!isAppended && (end >= m_text.size() || m_text[end] != '='))
        return false;
    const std::string name(m_text.substr(m_at, end - m_at));
    m_at = end + (isAppended ? 2 : 1);
    if (peek() == '(') {
        ++m_at;
        assign(name, list(), isAppended, true);
        return true;
    }
    std::string value;
    for (const std::string &field : word(";&|()<>").fields)
        value += (value.empty() ? "" : " ") + field;
    assign(name, { value }, isAppended);
    return true;
}

void ShellScript::assign(const std::string &name, Words value, bool isAppended, bool isList)
{
    m_isJoined = false;
    if (!m_isLive || !m_runs)
        return;
    const auto known = m_variables.find(name);
    // Of a loop that is gone through once the rest of the list is not known.
    if (isAppended && !m_loops.empty() && m_loops.back().body == std::string_view::npos)
        value = { unknownPart(name) };
    if (isAppended && known != m_variables.end()) {
        if (!isList && known->second.size() == 1 && value.size() == 1 && !known->second[0].starts_with("--")) {
            known->second[0] += value[0];
            known->second[0].resize(std::min(known->second[0].size(), kLongestVariable));
        } else if (!isList && known->second.size() == 1 && value.size() == 1) {
            known->second[0] += (value[0].starts_with(' ') ? "" : " ") + value[0];
            known->second[0].resize(std::min(known->second[0].size(), kLongestVariable));
        } else {
            for (std::string &one : value)
                if (known->second.size() < kMostWords)
                    known->second.push_back(std::move(one));
        }
        return;
    }
    if (known != m_variables.end() || m_variables.size() < kMostWords)
        m_variables[name] = std::move(value);
}

/// The words up to the closing bracket.
ShellScript::Words ShellScript::list()
{
    Words words;
    while (!isEnd()) {
        const char c = peek();
        if (c == ')') {
            ++m_at;
            return words;
        }
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            ++m_at;
        } else if (c == '#') {
            m_at = std::min(m_text.find('\n', m_at), m_text.size());
        } else {
            const std::size_t before = m_at;
            for (std::string &field : word(")").fields)
                if (words.size() < kMostWords)
                    words.push_back(std::move(field));
            m_at += m_at == before ? 1 : 0;
        }
    }
    m_isCut = true;
    return words;
}

ShellScript::Words ShellScript::wordsOf(std::string_view text)
{
    const ShellScript inner(text.substr(0, kLongestVariable));
    Words words;
    for (const Words &command : inner.commands())
        for (const std::string &word : command)
            if (words.size() < kMostWords)
                words.push_back(word);
    return words;
}

} // namespace trainyard::readers
