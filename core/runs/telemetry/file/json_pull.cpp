// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/file/json_pull_internal.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace trainyard::recording_file {

namespace {

bool isBlank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

bool isOfToken(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+'
        || c == '.';
}

void appendUtf8(std::string &text, std::uint32_t code)
{
    const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (code >= 0xef80 && code <= 0xefff) // stands for a byte
        return add(0x80 | (code & 0x7f));
    if (code < 0x80)
        return add(code);
    if (code < 0x800) {
        add(0xc0 | code >> 6);
    } else {
        if (code < 0x10000) {
            add(0xe0 | code >> 12);
        } else {
            add(0xf0 | code >> 18);
            add(0x80 | (code >> 12 & 0x3f));
        }
        add(0x80 | (code >> 6 & 0x3f));
    }
    add(0x80 | (code & 0x3f));
}

/// Four hexadecimal digits; above 0xffff where they are none.
std::uint32_t hexOf(std::string_view digits)
{
    std::uint32_t value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    return digits.size() == 4 && read.ec == std::errc() && read.ptr == digits.data() + 4 ? value : 0x10000;
}

} // namespace

bool JsonPull::fail(std::string what, std::string right)
{
    if (m_state == State::Good) {
        m_state = State::Bad;
        m_what = std::move(what);
        m_right = std::move(right);
    }
    return false;
}

bool JsonPull::end()
{
    if (m_state == State::Good)
        m_state = State::Ended;
    return false;
}

char JsonPull::peek()
{
    while (m_at < m_text.size() && isBlank(m_text[m_at]))
        ++m_at;
    if (m_at < m_text.size())
        return m_text[m_at];
    end();
    return '\0';
}

bool JsonPull::begin(char bracket, const char *what)
{
    const char found = peek();
    if (!isGood())
        return false;
    if (found != bracket)
        return fail("something else stands here", what);
    ++m_at;
    return m_isFirst = true;
}

bool JsonPull::separate(char closing)
{
    const char found = isGood() ? peek() : '\0';
    if (!isGood())
        return false;
    if (found == closing) {
        ++m_at;
        return m_isFirst = false;
    }
    if (m_isFirst)
        return true;
    if (found != ',')
        return fail("not valid JSON", std::string("a comma or ") + closing);
    ++m_at;
    return true;
}

bool JsonPull::nextItem()
{
    return separate(']');
}

bool JsonPull::nextKey(std::string &key)
{
    if (!separate('}'))
        return false;
    if (peek() != '"')
        return isGood() ? fail("not valid JSON", "a key in quotes") : false;
    if (!readText(key))
        return false;
    if (peek() != ':')
        return isGood() ? fail("not valid JSON", "a colon behind the key") : false;
    ++m_at;
    return true;
}

std::string_view JsonPull::token() const
{
    std::size_t end = m_at;
    while (end < m_text.size() && isOfToken(m_text[end]))
        ++end;
    return m_text.substr(m_at, end - m_at);
}

bool JsonPull::readNull()
{
    if (!isGood() || peek() != 'n')
        return false;
    const std::string_view word = token();
    if (m_at + word.size() == m_text.size())
        return end();
    if (word != "null")
        return false;
    m_at += word.size();
    m_isFirst = false;
    return true;
}

bool JsonPull::readWhole(std::int64_t &value)
{
    peek();
    if (!isGood())
        return false;
    std::int64_t read = 0;
    const char *begin = m_text.data() + m_at, *behind = m_text.data() + m_text.size();
    const auto [stopped, error] = std::from_chars(begin, behind, read);
    if (stopped == behind || m_at + 1 == m_text.size()) // the next byte might belong to it
        return end();
    if (error == std::errc::result_out_of_range)
        return fail(std::string(token().substr(0, 40)) + " is too large", "a whole number below 2^63");
    if (error != std::errc() || isOfToken(*stopped))
        return fail("something else stands here", "a whole number");
    m_at += static_cast<std::size_t>(stopped - begin);
    m_isFirst = false;
    value = read;
    return true;
}

bool JsonPull::readReal(double &value)
{
    const char first = peek();
    if (!isGood())
        return false;
    if (first == '"') {
        std::string word;
        if (!readText(word))
            return false;
        if (word != "Infinity" && word != "-Infinity")
            return fail("a text stands here", R"(a number, null, "Infinity" or "-Infinity")");
        value = std::numeric_limits<double>::infinity() * (word.front() == '-' ? -1 : 1);
        return true;
    }
    const std::string_view number = token();
    if (m_at + number.size() == m_text.size())
        return end();
    double read = std::numeric_limits<double>::quiet_NaN();
    if (number != "null") {
        const auto [stopped, error] = std::from_chars(number.data(), number.data() + number.size(), read);
        const bool isNumber = !number.empty() && (first == '-' || (first >= '0' && first <= '9'))
            && stopped == number.data() + number.size();
        if (!isNumber || (error != std::errc() && error != std::errc::result_out_of_range))
            return fail("something else stands here", "a number");
        if (error == std::errc::result_out_of_range)
            return fail(std::string(number.substr(0, 40)) + " is too large or too small", "a number that a double has");
    }
    m_at += number.size();
    m_isFirst = false;
    value = read;
    return true;
}

bool JsonPull::readFlag(bool &value)
{
    peek();
    if (!isGood())
        return false;
    const std::string_view word = token();
    if (m_at + word.size() == m_text.size())
        return end();
    if (word != "true" && word != "false")
        return fail("something else stands here", "true or false");
    m_at += word.size();
    m_isFirst = false;
    value = word == "true";
    return true;
}

bool JsonPull::readText(std::string &value)
{
    if (peek() != '"')
        return isGood() ? fail("something else stands here", "a text in quotes") : false;
    std::string read;
    for (std::size_t at = m_at + 1; at < m_text.size(); ++at) {
        const char c = m_text[at];
        if (c == '"') {
            m_at = at + 1;
            m_isFirst = false;
            value = std::move(read);
            return true;
        }
        if (c == '\xee' && at + 2 < m_text.size() && (m_text[at + 1] == '\xbe' || m_text[at + 1] == '\xbf')) {
            read += static_cast<char>((m_text[at + 1] == '\xbe' ? 0x80 : 0xc0) | (m_text[at + 2] & 0x3f));
            at += 2;
            continue;
        }
        if (c != '\\') {
            if (static_cast<unsigned char>(c) < 0x20)
                return fail("not valid JSON: a control character in a text");
            read += c;
            continue;
        }
        if (++at >= m_text.size())
            break;
        static constexpr std::string_view kEscapes = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
        if (const std::size_t known = kEscapes.find(m_text[at]); known != std::string_view::npos) {
            read += kMeant[known];
            continue;
        }
        if (m_text.size() - at < 5)
            break;
        std::uint32_t code = m_text[at] == 'u' ? hexOf(m_text.substr(at + 1, 4)) : 0x10000;
        if (code > 0xffff)
            return fail("not valid JSON: an escape that there is not");
        at += 4;
        if (code >= 0xd800 && code < 0xdc00 && m_text.substr(at + 1, 2) == "\\u" && m_text.size() - at > 6)
            if (const std::uint32_t low = hexOf(m_text.substr(at + 3, 4)); low >= 0xdc00 && low < 0xe000) {
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                at += 6;
            }
        appendUtf8(read, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
    }
    return end();
}

bool JsonPull::skip()
{
    std::size_t depth = 0;
    do {
        const char c = peek();
        if (!isGood())
            return false;
        if (c == '"') {
            if (std::string ignored; !readText(ignored))
                return false;
        } else if (isOfToken(c)) {
            m_at += token().size();
            if (m_at == m_text.size())
                return end();
        } else if (c == '{' || c == '[') {
            ++depth;
            ++m_at;
        } else if (depth > 0 && (c == '}' || c == ']' || c == ',' || c == ':')) {
            depth -= c == '}' || c == ']' ? 1 : 0;
            ++m_at;
        } else {
            return fail("not valid JSON", "a value");
        }
    } while (depth > 0);
    m_isFirst = false;
    return true;
}

bool JsonPull::atEnd()
{
    while (m_at < m_text.size() && isBlank(m_text[m_at]))
        ++m_at;
    return m_at == m_text.size();
}

} // namespace trainyard::recording_file
