// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace trainyard::fuzz {

namespace {

/// Ends of ranges, what doubles and 32- and 64-bit integers hold no more, and what is no number in JSON.
constexpr std::array kNumbers { "0", "-0", "-0.0", "1", "-1", "2", "3", "7", "8", "16", "64", "127", "128", "1000",
    "4096", "65536", "100000", "1000000", "10000000", "0.5", "0.1", "1e-3", "1e-9", "1e-300", "5e-324", "1e-400", "1e6",
    "1e9", "1e12", "1e15", "1e17", "1e18", "1e19", "1e100", "1e300", "1.7976931348623157e308", "1e308", "1e309",
    "1e400", "-1e400", "2147483647", "2147483648", "-2147483649", "4294967295", "4294967296", "9007199254740993",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615",
    "18446744073709551616", "123456789012345678901234567890", "NaN", "Infinity", "-", "+1", "01", "1.", ".5", "1e",
    "0x10", "1_000" };

constexpr std::array kValues { "null", "true", "false", "\"\"", "\"auto\"", "[]", "{}", "[[]]", "[null]", "{\"\":0}",
    "[0,\"\"]", "[1,1]", "\"\\u0000\"", "\"\\ud800\"", "\"\\u202e\\u001b[31m\"", "\"=1+1\"", "\"a/b~c\"",
    "\"../x.json\"", "\xef\xbb\xbf", "\xff", "\"\xc3\x28\"", "//", ",", ":", "\n" };

bool isNumberPart(char c)
{
    return (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-';
}

} // namespace

std::vector<JsonSpan> jsonSpans(const std::string &text)
{
    struct Open {
        std::size_t begin, key;
    };
    constexpr std::size_t kNone = std::string::npos;
    std::vector<JsonSpan> spans;
    std::vector<Open> open;
    std::size_t key = kNone, lastString = kNone;
    const auto close = [&](std::size_t begin, std::size_t end, std::size_t from) {
        spans.push_back({ begin, end, false });
        if (from != kNone)
            spans.push_back({ from, end, true });
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') {
            const std::size_t begin = i++;
            while (i < text.size() && text[i] != '"')
                i += text[i] == '\\' ? 2 : 1;
            if (i >= text.size())
                break;
            std::size_t next = i + 1;
            while (next < text.size() && std::isspace(static_cast<unsigned char>(text[next])))
                ++next;
            if (next < text.size() && text[next] == ':')
                lastString = begin;
            else
                close(begin, i + 1, std::exchange(key, kNone));
        } else if (c == ':') {
            key = std::exchange(lastString, kNone);
        } else if (c == '{' || c == '[') {
            open.push_back({ i, std::exchange(key, kNone) });
        } else if ((c == '}' || c == ']') && !open.empty()) {
            close(open.back().begin, i + 1, open.back().key);
            open.pop_back();
        } else if (isNumberPart(c) || std::isalpha(static_cast<unsigned char>(c))) {
            const std::size_t begin = i;
            while (i + 1 < text.size()
                && (isNumberPart(text[i + 1]) || std::isalnum(static_cast<unsigned char>(text[i + 1]))))
                ++i;
            close(begin, i + 1, std::exchange(key, kNone));
        }
    }
    return spans;
}

Mutator::Mutator(std::uint64_t seed, std::vector<std::string> dictionary)
    : m_random(seed)
    , m_dictionary(std::move(dictionary))
{
    if (m_dictionary.empty())
        m_dictionary.emplace_back("0");
}

std::string Mutator::mutated(const std::string &input, const std::string &other)
{
    std::string text = input;
    for (std::size_t changes = below(2) == 0 ? 1 : std::size_t(1) << below(4); changes > 0; --changes)
        changeOnce(text, other);
    if (text.size() > kMostBytes)
        text.resize(kMostBytes);
    return text;
}

void Mutator::changeOnce(std::string &text, const std::string &other)
{
    switch (below(16)) {
    case 0:
        return changeByte(text);
    case 1:
        return changeBlock(text, other);
    case 2:
    case 3:
        return insertWord(text);
    case 4:
    case 5:
    case 6:
    case 7:
    case 8:
        return changeNumber(text);
    default:
        return changeValue(text, other);
    }
}

void Mutator::changeByte(std::string &text)
{
    const std::size_t at = below(text.size() + 1);
    switch (below(4)) {
    case 0:
        text.insert(at, 1, char(below(256)));
        break;
    case 1:
        if (at < text.size())
            text[at] = char(text[at] ^ (1 << below(8)));
        break;
    case 2:
        if (at < text.size())
            text.erase(at, 1);
        break;
    default:
        text.resize(at);
        break;
    }
}

void Mutator::changeBlock(std::string &text, const std::string &other)
{
    const std::size_t at = below(text.size() + 1), size = below(std::min<std::size_t>(text.size() - at, 200) + 1);
    switch (below(4)) {
    case 0:
        text.erase(at, size);
        break;
    case 1:
        text.insert(below(text.size() + 1), text.substr(at, size));
        break;
    case 2: {
        const std::size_t from = below(other.size() + 1);
        text = text.substr(0, at) + other.substr(from);
        break;
    }
    default: {
        const std::string block = text.substr(at, std::max<std::size_t>(size, 1));
        std::string many;
        for (std::size_t n = std::size_t(1) << below(10); n > 0 && many.size() < kMostBytes; --n)
            many += block;
        text.insert(at, many);
    }
    }
}

std::string Mutator::number(const std::string &old)
{
    const std::size_t kind = below(6);
    if (kind < 3)
        return kNumbers[below(kNumbers.size())];
    const double known = std::strtod(old.c_str(), nullptr);
    static constexpr std::array kFactors { 0.0, -1.0, 0.5, 2.0, 10.0, 0.1, 1e3, 1e6, 1e-6, 1e12 };
    const double next = kind == 3 ? known + (below(2) == 0 ? 1 : -1) : known * kFactors[below(kFactors.size())];
    char shown[40];
    std::snprintf(shown, sizeof shown, kind == 5 ? "%.17g" : "%.0f", next);
    return shown;
}

void Mutator::changeNumber(std::string &text)
{
    const std::size_t start = below(text.size() + 1);
    for (std::size_t step = 0; step < text.size(); ++step) {
        std::size_t begin = (start + step) % text.size();
        if (text[begin] < '0' || text[begin] > '9')
            continue;
        std::size_t end = begin;
        while (begin > 0 && isNumberPart(text[begin - 1]))
            --begin;
        while (end < text.size() && isNumberPart(text[end]))
            ++end;
        text.replace(begin, end - begin, number(text.substr(begin, end - begin)));
        return;
    }
}

void Mutator::insertWord(std::string &text)
{
    const std::string &word = m_dictionary[below(m_dictionary.size())];
    const auto spans = jsonSpans(text);
    if (spans.empty() || below(4) == 0) {
        text.insert(below(text.size() + 1), word);
        return;
    }
    const JsonSpan span = spans[below(spans.size())];
    const std::string quoted = "\"" + word + "\"";
    if (span.isMember) // a member more beside this one
        text.insert(span.end, "," + quoted + ":" + value({}));
    else
        text.replace(span.begin, span.end - span.begin, quoted);
}

std::string Mutator::value(const std::string &other)
{
    switch (below(4)) {
    case 0:
        return number("1");
    case 1:
        return kValues[below(kValues.size())];
    case 2:
        return "\"" + m_dictionary[below(m_dictionary.size())] + "\"";
    default:
        if (const auto spans = jsonSpans(other); !spans.empty()) {
            const JsonSpan span = spans[below(spans.size())];
            return other.substr(span.begin, span.end - span.begin);
        }
        return kNumbers[below(kNumbers.size())];
    }
}

void Mutator::changeValue(std::string &text, const std::string &other)
{
    const auto spans = jsonSpans(text);
    if (spans.empty())
        return changeByte(text);
    const JsonSpan span = spans[below(spans.size())];
    const std::size_t size = span.end - span.begin;
    switch (below(6)) {
    case 0:
        text.erase(span.begin, size + (span.end < text.size() && text[span.end] == ',' ? 1 : 0));
        break;
    case 1:
        text.insert(span.end, "," + text.substr(span.begin, size));
        break;
    case 2: {
        const std::size_t levels = std::size_t(1) << below(9);
        text.replace(span.begin, size, std::string(levels, '[') + "0" + std::string(levels, ']'));
        break;
    }
    case 3: {
        const JsonSpan second = spans[below(spans.size())];
        text.replace(span.begin, size, text.substr(second.begin, second.end - second.begin));
        break;
    }
    default:
        text.replace(span.begin, size, value(other));
        break;
    }
}

} // namespace trainyard::fuzz
