// SPDX-License-Identifier: GPL-3.0-or-later
// What a script makes of its own values: loops that count, sums, lists that echo and printf write, commands that bash
// -c is given.
#include "core/runs/telemetry/readers/integer_expression.h"
#include "core/runs/telemetry/readers/shell_script.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <array>

namespace trainyard::readers {

namespace {

constexpr int kMostRounds = 20'000, kMostPrintedDepth = 16;
constexpr std::size_t kLongestShown = 1000, kLongestName = 80, kLongestPrinted = 1 << 18;

/// Bash's format with its values, again and again while there are any; nothing of formats other than %s, %d and %i.
std::optional<std::string> formatted(const std::vector<std::string> &words)
{
    if (words.empty())
        return std::nullopt;
    const std::string &format = words.front();
    std::string text;
    std::size_t next = 1;
    do {
        const std::size_t before = next;
        for (std::size_t i = 0; i < format.size(); ++i) {
            const char c = format[i], kind = i + 1 < format.size() ? format[i + 1] : '\0';
            if (c == '\\' && kind == 'n') {
                text += '\n';
                ++i;
            } else if (c != '%') {
                text += c;
            } else if (kind == '%') {
                text += format[++i];
            } else if (kind == 's' || kind == 'd' || kind == 'i') {
                text += next < words.size() ? words[next] : std::string();
                ++next;
                ++i;
            } else {
                return std::nullopt;
            }
        }
        if (next == before || text.size() > kLongestPrinted)
            break;
    } while (next < words.size());
    return text;
}

} // namespace

std::string unknownPart(std::string_view variable)
{
    const bool isName =
        !variable.empty() && variable.size() <= kLongestName && std::ranges::all_of(variable, isNameChar);
    return isName ? kUnknownPart + std::string(variable) + kUnknownEnd : std::string(1, kUnknownPart);
}

std::string unknownNamed(std::string_view word)
{
    if (word == std::string_view(&kUnknownPart, 1))
        return "the output of a command";
    std::string text;
    for (std::size_t i = 0; i < word.size(); ++i) {
        const bool isName = word[i] == kUnknownPart && i + 1 < word.size() && isNameChar(word[i + 1])
            && word.find(kUnknownEnd, i) != word.npos;
        if (word[i] == kUnknownPart)
            text += isName ? "$" : "$(…)";
        else if (word[i] != kUnknownEnd)
            text += word[i];
        else if (i + 1 < word.size() && isNameChar(word[i + 1]))
            text += "·"; // where the name ends
    }
    return text.substr(0, kLongestShown);
}

bool isUnknownAlone(std::string_view word)
{
    return word.starts_with(kUnknownPart) && (word.size() == 1 || word.find(kUnknownEnd) == word.size() - 1);
}

/// Behind "for": "((i = 0; i < N; i++))". Of other loops false.
bool ShellScript::takeLoop()
{
    const std::size_t begin = m_text.find_first_not_of(" \t", m_at);
    if (begin == m_text.npos || !m_text.substr(begin).starts_with("(("))
        return false;
    const std::size_t end = m_text.find("))", begin);
    const std::string_view inside = m_text.substr(begin + 2, std::min(end, m_text.size()) - begin - 2);
    const std::vector<std::string_view> parts = fieldsAt(inside, ';');
    if (end == m_text.npos || parts.size() != 3)
        return false;
    m_at = end + 2;
    m_nextLoop = Loop { 0, parts[1], parts[2] };
    calculate(parts[0]);
    return true;
}

void ShellScript::beginLoop()
{
    Loop loop = m_nextLoop.value_or(Loop {});
    const bool isCounted = m_nextLoop.has_value();
    m_nextLoop.reset();
    loop.branches = m_branches.size();
    loop.isLiveAround = m_isLive;
    if (isCounted && m_isLive && m_runs) {
        const Outcome first = outcomeOfArithmetic(loop.condition);
        m_isLive = first != Outcome::No;
        loop.body = first == Outcome::Yes ? m_at : std::string_view::npos;
    } else {
        loop.body = std::string_view::npos;
    }
    if (m_loops.size() < 1000)
        m_loops.push_back(loop);
}

void ShellScript::endLoop()
{
    if (m_loops.empty())
        return;
    const Loop loop = m_loops.back();
    if (loop.body != std::string_view::npos && m_branches.size() == loop.branches && ++m_rounds < kMostRounds) {
        calculate(loop.step);
        const Outcome next = outcomeOfArithmetic(loop.condition);
        if (next == Outcome::Yes) {
            m_at = loop.body;
            return;
        }
    }
    m_isLive = loop.isLiveAround;
    m_loops.pop_back();
}

/// "((i < 3))" as a command: its outcome, and what it changes.
bool ShellScript::takeArithmetic()
{
    const std::size_t end = m_text.find("))", m_at + 2);
    const std::string_view inside = m_text.substr(m_at + 2, std::min(end, m_text.size()) - m_at - 2);
    if (end == m_text.npos || inside.find('\n') != inside.npos)
        return false;
    m_at = end + 2;
    m_isJoined = false;
    const Outcome outcome = outcomeOfArithmetic(inside);
    m_words = { "((", outcome == Outcome::Yes ? "1" : outcome == Outcome::No ? "0" : unknownPart() };
    if (!m_isCondition)
        calculate(inside);
    return true;
}

/// "i++", "i += 2", "i = 0".
void ShellScript::calculate(std::string_view statement)
{
    statement = trimmed(statement);
    const bool isBefore = statement.starts_with("++") || statement.starts_with("--");
    const char sign = isBefore ? statement[0] : '\0';
    if (isBefore)
        statement.remove_prefix(2);
    std::size_t end = 0;
    while (end < statement.size() && isNameChar(statement[end]))
        ++end;
    const std::string name(statement.substr(0, end));
    std::string_view rest = trimmedStart(statement.substr(end));
    if (name.empty() || isDigit(name[0]))
        return;
    const auto own = wholeOf(name);
    std::optional<std::int64_t> value;
    const auto of = [&](std::string_view text) {
        return integerExpression(text, [&](std::string_view one) { return wholeOf(one); });
    };
    const bool isStep = isBefore ? rest.empty() : rest == "++" || rest == "--";
    if (isStep)
        value = own ? std::optional(*own + ((isBefore ? sign : rest[0]) == '+' ? 1 : -1)) : std::nullopt;
    else if (rest.starts_with("+=") || rest.starts_with("-=")) {
        const auto by = of(rest.substr(2));
        value = own && by ? std::optional(rest[0] == '+' ? *own + *by : *own - *by) : std::nullopt;
    } else if (rest.starts_with('=') && !rest.starts_with("=="))
        value = of(rest.substr(1));
    else
        return;
    assign(name, { value ? std::to_string(*value) : unknownPart(name) }, false);
}

std::optional<std::int64_t> ShellScript::wholeOf(std::string_view name) const
{
    const auto known = m_variables.find(name);
    std::string_view own;
    if (known != m_variables.end() && !known->second.empty())
        own = known->second.front();
    const auto number = takeWhole(own);
    return own.empty() ? number : std::nullopt;
}

/// Of a sum that cannot be made, the first variable that is no number.
std::string ShellScript::unknownOf(std::string_view arithmetic) const
{
    for (std::size_t at = 0; at < arithmetic.size();) {
        std::size_t end = at;
        while (end < arithmetic.size() && isNameChar(arithmetic[end]))
            ++end;
        const std::string_view name = arithmetic.substr(at, end - at);
        if (!name.empty() && !isDigit(name[0]) && !wholeOf(name)) {
            const auto known = m_variables.find(name);
            const bool isPassed = known != m_variables.end() && !known->second.empty() && isUnknown(known->second[0]);
            return isPassed ? known->second[0] : unknownPart(name);
        }
        at = std::max(end, at + 1);
    }
    return unknownPart();
}

ShellScript::Outcome ShellScript::outcomeOfArithmetic(std::string_view text) const
{
    static constexpr std::array<std::string_view, 6> kCompared { "<=", ">=", "==", "!=", "<", ">" };
    if (text.size() > 1000)
        return Outcome::Unknown;
    for (const char joint : { '|', '&' }) {
        const std::size_t at = text.find(std::string(2, joint));
        if (at == text.npos)
            continue;
        const Outcome one = outcomeOfArithmetic(text.substr(0, at)), two = outcomeOfArithmetic(text.substr(at + 2));
        const Outcome strong = joint == '&' ? Outcome::No : Outcome::Yes;
        return one == strong || two == strong                    ? strong
            : one == Outcome::Unknown || two == Outcome::Unknown ? Outcome::Unknown
                                                                 : one;
    }
    const auto of = [&](std::string_view part) {
        return integerExpression(part, [&](std::string_view name) { return wholeOf(name); });
    };
    const auto outcome = [](bool is) { return is ? Outcome::Yes : Outcome::No; };
    for (std::size_t i = 0; i < kCompared.size(); ++i) {
        const std::size_t at = text.find(kCompared[i]);
        if (at == text.npos)
            continue;
        const auto a = of(text.substr(0, at)), b = of(text.substr(at + kCompared[i].size()));
        if (!a || !b)
            return Outcome::Unknown;
        const std::array<bool, 6> is { *a <= *b, *a >= *b, *a == *b, *a != *b, *a<*b, *a> * b };
        return outcome(is[i]);
    }
    const auto value = of(text);
    return value ? outcome(*value != 0) : Outcome::Unknown;
}

/// What "IFS=,; echo "${list[*]}"" or printf writes; nothing of other commands.
std::optional<std::string> ShellScript::printed(std::string_view command)
{
    command = trimmed(command);
    char joint = ' ';
    if (takeText(command, "IFS=")) {
        takeText(command, "$");
        const char quote = !command.empty() && (command[0] == '\'' || command[0] == '"') ? command[0] : '\0';
        const std::size_t first = quote ? 1 : 0;
        joint = first < command.size() ? command[first] : ' ';
        const std::size_t end = command.find(';', quote ? std::min(command.find(quote, 1), command.size()) : 1);
        command = trimmed(command.substr(std::min(end, command.size() - (command.empty() ? 0 : 1)) + 1));
    }
    const bool isEcho = takeText(command, "echo "), isPrintf = !isEcho && takeText(command, "printf ");
    if ((!isEcho && !isPrintf) || command.size() > kLongestPrinted || command.find_first_of("|;&<>`\n") != command.npos
        || m_depth >= kMostPrintedDepth)
        return std::nullopt;
    ++m_depth;
    const std::string_view text = m_text;
    const std::size_t at = m_at;
    std::swap(m_listJoint, joint);
    m_text = command;
    m_at = 0;
    Words words;
    while (!isEnd()) {
        const std::size_t before = m_at;
        for (std::string &field : word("").fields)
            words.push_back(std::move(field));
        m_at += m_at == before ? 1 : 0;
    }
    m_text = text;
    m_at = at;
    std::swap(m_listJoint, joint);
    --m_depth;
    if (isPrintf)
        return formatted(words);
    std::string all;
    const std::size_t begin = !words.empty() && (words[0] == "-n" || words[0] == "-e") ? 1 : 0;
    for (std::size_t i = begin; i < words.size(); ++i)
        all += (i > begin ? " " : "") + words[i];
    return all;
}

/// "printf -v NAME FORMAT VALUES" sets a variable.
void ShellScript::takePrintf()
{
    if (m_words.size() < 4 || m_words[0] != "printf" || m_words[1] != "-v")
        return;
    const std::string name = m_words[2];
    const auto text = formatted({ m_words.begin() + 3, m_words.end() });
    assign(name, { text ? *text : unknownPart(name) }, false);
}

/// The text behind bash -c is a script with the variables of this one: its commands are this one's. Where it runs what
/// stands behind it ("$@"), that stays the command.
void ShellScript::runInner()
{
    for (std::size_t i = 1; i + 1 < m_words.size(); ++i) {
        const bool isShell = m_words[i - 1].ends_with("sh") && (m_words[i] == "-c" || m_words[i] == "-lc");
        if (!isShell || m_words[i + 1].find('$') == std::string::npos || m_words[i + 1].find("$@") != std::string::npos
            || m_depth > 2)
            continue;
        ShellScript inner;
        inner.m_variables = m_variables;
        const std::string text = std::move(m_words[i + 1]);
        m_words.resize(i + 1);
        inner.run(text, m_depth + 1);
        for (Words &command : inner.m_commands)
            m_commands.push_back(std::move(command));
        return;
    }
}

} // namespace trainyard::readers
