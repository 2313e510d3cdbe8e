// SPDX-License-Identifier: GPL-3.0-or-later
// Conditions of a script: if, elif, case, && and ||, as far as what stands in them is known.
#include "core/runs/telemetry/readers/shell_script.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <array>

namespace trainyard::readers {

namespace {

constexpr std::size_t kMostConditions = 100, kMostBranchings = 1000, kLongestCondition = 80;

/// Of a pattern with one star at its end, or none; nothing of others.
std::optional<bool> matches(std::string_view text, std::string_view pattern)
{
    const bool isPrefix = pattern.ends_with('*');
    pattern.remove_suffix(isPrefix ? 1 : 0);
    if (pattern.find_first_of("*?[$`\\") != pattern.npos)
        return std::nullopt;
    return isPrefix ? text.starts_with(pattern) : text == pattern;
}

std::string_view unquotedPattern(std::string_view pattern)
{
    pattern = trimmed(pattern);
    const bool isQuoted =
        pattern.size() >= 2 && (pattern[0] == '"' || pattern[0] == '\'') && pattern.back() == pattern[0];
    return isQuoted ? pattern.substr(1, pattern.size() - 2) : pattern;
}

} // namespace

/// Whether the first word of a command is one that the shell itself takes.
bool ShellScript::takeKeyword(const std::string &word)
{
    static constexpr std::array<std::string_view, 5> kPassed { "{", "}", "while", "until", "time" };
    if (word == "for" && takeLoop())
        return true;
    if (!m_isCondition && (word == "do" || word == "done")) {
        word == "do" ? beginLoop() : endLoop();
        return true;
    }
    if (word == "if" && m_branches.size() < kMostBranchings) {
        m_branches.push_back({ m_isLive && m_runs });
    } else if (word == "case" && m_branches.size() < kMostBranchings) {
        while (peek() == ' ' || peek() == '\t')
            ++m_at;
        Branching branching { m_isLive && m_runs, true, true };
        const Word subject = this->word(";&|()<>");
        branching.subject = subject.fields.empty() ? std::string() : subject.fields[0];
        const std::size_t in = m_text.find("in", m_at);
        m_at = in == m_text.npos ? m_text.size() : in + 2;
        m_branches.push_back(std::move(branching));
        return true;
    } else if (word == "then" && m_isCondition) {
        m_isCondition = false;
        const std::size_t end = m_text.rfind("then", m_at);
        const std::string_view text = m_text.substr(m_conditionAt, std::max(end, m_conditionAt) - m_conditionAt);
        enterBranch(outcomeOfCondition(), m_conditionAt, text);
        return true;
    } else if (word == "else" && !m_branches.empty()) {
        enterBranch(Outcome::Yes, m_at, {});
        return true;
    } else if ((word == "fi" || word == "esac") && !m_branches.empty()) {
        m_isLive = m_branches.back().isLiveAround;
        m_branches.pop_back();
        return true;
    }
    if (word != "if" && word != "elif")
        return word == "then" || (!m_isCondition && std::ranges::find(kPassed, word) != kPassed.end());
    if (!m_branches.empty())
        m_isLive = m_branches.back().isLiveAround;
    m_isCondition = true;
    m_condition.clear();
    m_conditionAt = m_at;
    return true;
}

/// "7b | 8b)" of a case, or its end.
void ShellScript::takePattern()
{
    while (peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '\n' || peek() == '#')
        m_at = peek() == '#' ? std::min(m_text.find('\n', m_at), m_text.size()) : m_at + 1;
    Branching &branching = m_branches.back();
    branching.isPatternNext = false;
    const std::size_t begin = m_at + (peek() == '(' ? 1 : 0), end = m_text.find(')', begin);
    if (m_text.substr(m_at).starts_with("esac") || end == m_text.npos)
        return;
    m_at = end + 1;
    const std::string_view all = m_text.substr(begin, end - begin);
    Outcome outcome = Outcome::No;
    for (const std::string_view pattern : fieldsAt(all, '|')) {
        const auto match = isUnknown(branching.subject) && pattern != "*"
            ? std::nullopt
            : matches(branching.subject, unquotedPattern(pattern));
        outcome = match == true || outcome == Outcome::Yes ? Outcome::Yes : !match ? Outcome::Unknown : outcome;
    }
    enterBranch(outcome, begin, all);
}

/// Behind a command: what the next one hangs on.
void ShellScript::join(char joint)
{
    if (m_isCondition) {
        if (!m_condition.empty())
            m_condition.back().joint = joint;
        return;
    }
    m_joint = joint;
    m_isJoined = joint == '&' || joint == '|';
    if (joint != '&' && joint != '|') {
        m_chain = Outcome::Yes;
        m_runs = true;
        return;
    }
    const Outcome outcome = joint == '&' || m_chain == Outcome::Unknown ? m_chain
        : m_chain == Outcome::Yes                                       ? Outcome::No
                                                                        : Outcome::Yes;
    const std::size_t begin = m_text.rfind('\n', m_at);
    m_runs = decide(outcome, m_at, m_text.substr(begin + 1, m_at - begin - 1));
    if (m_isLive && m_chain == Outcome::Unknown)
        m_chain = m_runs == (joint == '&') ? Outcome::Yes : Outcome::No;
}

bool ShellScript::decide(Outcome outcome, std::size_t at, std::string_view text)
{
    if (outcome != Outcome::Unknown || !m_isLive)
        return outcome == Outcome::Yes;
    text = trimmed(text);
    if (m_depth == 0 && m_unknown.size() < kMostConditions
        && std::ranges::find(m_unknown, at, &UnknownCondition::at) == m_unknown.end())
        m_unknown.push_back({ at, int(std::count(m_text.begin(), m_text.begin() + std::ptrdiff_t(at), '\n')) + 1,
            std::string(trimmed(text.substr(0, std::min(text.find_first_of(";\n"), kLongestCondition)))) });
    return std::ranges::find(m_holds, at) != m_holds.end();
}

void ShellScript::enterBranch(Outcome outcome, std::size_t at, std::string_view text)
{
    Branching &branching = m_branches.back();
    m_isLive = branching.isLiveAround;
    m_isLive = m_isLive && !branching.isTaken && decide(outcome, at, text);
    branching.isTaken = branching.isTaken || m_isLive;
}

ShellScript::Outcome ShellScript::outcomeOfCondition() const
{
    Outcome all = m_condition.empty() ? Outcome::Unknown : outcomeOf(m_condition[0].words, Outcome::Unknown);
    for (std::size_t i = 1; i < m_condition.size(); ++i) {
        const Outcome one = outcomeOf(m_condition[i].words, Outcome::Unknown);
        const char joint = m_condition[i - 1].joint;
        if (joint != '&' && joint != '|')
            return Outcome::Unknown;
        const Outcome strong = joint == '&' ? Outcome::No : Outcome::Yes;
        all = all == strong || one == strong                     ? strong
            : all == Outcome::Unknown || one == Outcome::Unknown ? Outcome::Unknown
                                                                 : one;
    }
    return all;
}

/// Of a command: tests are looked into; of others as they are taken to be.
ShellScript::Outcome ShellScript::outcomeOf(const Words &words, Outcome ofOthers)
{
    std::vector<std::string_view> own(words.begin(), words.end());
    bool isTest = false, isNegated = false;
    while (!own.empty() && own.front() == "!") {
        isNegated = !isNegated;
        own.erase(own.begin());
    }
    if (!own.empty() && (own.front() == "[" || own.front() == "[[" || own.front() == "test")) {
        own.erase(own.begin());
        isTest = true;
    }
    if (!own.empty() && (own.back() == "]" || own.back() == "]]")) {
        own.pop_back();
        isTest = true;
    }
    if (own.size() == 2 && own[0] == "((") {
        const Outcome outcome = isUnknown(own[1]) ? Outcome::Unknown : own[1] == "0" ? Outcome::No : Outcome::Yes;
        return outcome == Outcome::Unknown || !isNegated ? outcome
            : outcome == Outcome::Yes                    ? Outcome::No
                                                         : Outcome::Yes;
    }
    if (!isTest && own.size() == 1 && (own[0] == "true" || own[0] == ":" || own[0] == "false"))
        return (own[0] == "false") != isNegated ? Outcome::No : Outcome::Yes;
    const Outcome outcome = isTest ? outcomeOfTest(std::move(own)) : ofOthers;
    return outcome == Outcome::Unknown || !isNegated ? outcome : outcome == Outcome::Yes ? Outcome::No : Outcome::Yes;
}

ShellScript::Outcome ShellScript::outcomeOfTest(std::vector<std::string_view> words)
{
    const auto outcome = [](bool is) { return is ? Outcome::Yes : Outcome::No; };
    if (std::ranges::any_of(words, isUnknown))
        return Outcome::Unknown;
    if (words.size() > 1 && words[0] == "!") {
        words.erase(words.begin());
        const Outcome other = outcomeOfTest(std::move(words));
        return other == Outcome::Unknown ? other : outcome(other == Outcome::No);
    }
    if (words.size() == 1 && (words[0] == "-z" || words[0] == "-n")) // of an empty text without quotes
        return outcome(words[0] == "-z");
    if (words.size() <= 1)
        return outcome(!words.empty() && !words[0].empty());
    if (words.size() == 2 && (words[0] == "-z" || words[0] == "-n"))
        return outcome(words[1].empty() == (words[0] == "-z"));
    if (words.size() == 2 && (words[0] == "==" || words[0] == "=" || words[0] == "!="))
        words.insert(words.begin(), "");
    if (words.size() != 3)
        return Outcome::Unknown;
    if (words[1] == "==" || words[1] == "=" || words[1] == "!=") {
        const auto match = matches(words[0], words[2]);
        return match ? outcome(*match == (words[1] != "!=")) : Outcome::Unknown;
    }
    const auto a = integerIn(words[0]), b = integerIn(words[2]);
    if (!a || !b)
        return Outcome::Unknown;
    static constexpr std::array<std::string_view, 6> kCompared { "-eq", "-ne", "-gt", "-ge", "-lt", "-le" };
    const std::array<bool, 6> is { *a == *b, *a != *b, *a > *b, *a >= *b, *a < *b, *a <= *b };
    const auto how = std::ranges::find(kCompared, words[1]);
    return how == kCompared.end() ? Outcome::Unknown : outcome(is[std::size_t(how - kCompared.begin())]);
}

} // namespace trainyard::readers
