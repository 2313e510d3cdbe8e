// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>

namespace trainyard::readers::measured {

namespace {

bool isDigit(char byte)
{
    return byte >= '0' && byte <= '9';
}

bool equalsIgnoringCase(std::string_view text, std::string_view lower)
{
    return std::ranges::equal(
        text, lower, [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b; });
}

std::optional<double> parsedNumber(std::string_view text, std::chars_format format)
{
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, format);
    if (end != text.data() + text.size() || (error != std::errc() && error != std::errc::result_out_of_range))
        return std::nullopt;
    if (error == std::errc())
        return value;
    const bool isTiny = text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos
        || text.find("p-") != std::string_view::npos;
    return isTiny ? 0.0 : std::numeric_limits<double>::infinity();
}

/// "10,050" without its commas, where they stand between groups of three; else empty.
std::string withoutThousands(std::string_view text)
{
    const auto comma = text.find(',');
    if (comma == 0 || comma > 3 || comma == std::string_view::npos)
        return {};
    std::string plain;
    std::size_t digits = 0;
    for (std::size_t i = 0; i < text.size() && text[i] != '.'; ++i)
        if (text[i] == ',') {
            if (i != comma && digits != 3)
                return {};
            digits = 0;
        } else if (isDigit(text[i])) {
            ++digits;
        } else {
            return {};
        }
    if (digits != 3)
        return {};
    std::ranges::copy_if(text, std::back_inserter(plain), [](char byte) { return byte != ','; });
    return plain;
}

/// The number of `size` digits at `at`; -1 where they are none.
int digitsAt(std::string_view text, std::size_t at, std::size_t size)
{
    if (at + size > text.size())
        return -1;
    int value = 0;
    for (const char byte : text.substr(at, size))
        value = isDigit(byte) && value >= 0 ? value * 10 + (byte - '0') : -1;
    return value;
}

/// Bytes of one wrapper that `line` begins with; 0: none.
std::size_t wrapperSize(std::string_view line)
{
    if (line.starts_with('[')) {
        const auto end = line.find(']');
        if (end == std::string_view::npos)
            return 0;
        const std::string_view inside = line.substr(1, end - 1), behind = line.substr(end + 1);
        for (const std::string_view stream : { "<stdout>:", "<stderr>:", "<stdout>", "<stderr>" })
            if (behind.starts_with(stream))
                return end + 1 + stream.size();
        if (inside.starts_with("pod/"))
            return end + 1;
        return (inside.starts_with("rank") || inside.starts_with("default")) && behind.starts_with(':') ? end + 2 : 0;
    }
    std::size_t digits = 0;
    while (digits < line.size() && isDigit(line[digits]))
        ++digits;
    if (digits > 0 && digits < 7 && line.substr(digits).starts_with(": "))
        return digits + 2;
    if (digits == 4 && line.size() > 20 && line[4] == '-' && line[10] == 'T' && momentIn(line.substr(0, 19))) {
        const auto blank = line.find(' ');
        return blank != std::string_view::npos && blank < 40 ? blank : 0;
    }
    return 0;
}

/// Without escape sequences of terminals.
std::string withoutColours(std::string_view line)
{
    std::string plain;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] != '\x1b') {
            plain += line[i];
            continue;
        }
        if (i + 1 < line.size() && line[i + 1] == '[')
            for (i += 2; i < line.size() && (line[i] < '@' || line[i] > '~');)
                ++i;
    }
    return plain;
}

} // namespace

bool TextLines::next()
{
    if (m_at >= m_text.size())
        return false;
    m_begin = m_at;
    const std::size_t end = m_text.find_first_of("\r\n", m_at);
    m_isFinished = end != std::string_view::npos;
    m_line = m_text.substr(m_begin, m_isFinished ? end - m_begin : std::string_view::npos);
    m_at = m_isFinished ? end + 1 : m_text.size();
    if (m_isFinished && m_text[end] == '\r' && m_at < m_text.size() && m_text[m_at] == '\n')
        ++m_at;
    return true;
}

std::vector<std::string_view> fieldsOf(std::string_view line)
{
    std::vector<std::string_view> fields;
    for (std::size_t at = 0; at < line.size();) {
        while (at < line.size() && isAsciiSpace(line[at]))
            ++at;
        const std::size_t begin = at;
        while (at < line.size() && !isAsciiSpace(line[at]))
            ++at;
        if (at > begin)
            fields.push_back(line.substr(begin, at - begin));
    }
    return fields;
}

std::vector<std::string_view> fieldsAt(std::string_view line, char separator)
{
    std::vector<std::string_view> fields;
    for (std::size_t at = 0;;) {
        const auto end = line.find(separator, at);
        fields.push_back(trimmed(line.substr(at, end == std::string_view::npos ? end : end - at)));
        if (end == std::string_view::npos)
            return fields;
        at = end + 1;
    }
}

std::optional<double> numberIn(std::string_view text)
{
    text = trimmed(text);
    const bool isNegative = text.starts_with('-');
    if (isNegative || text.starts_with('+'))
        text.remove_prefix(1);
    if (text.empty() || text.front() == '-' || text.front() == '+')
        return std::nullopt;
    const double sign = isNegative ? -1 : 1;
    if (equalsIgnoringCase(text, "nan"))
        return std::numeric_limits<double>::quiet_NaN();
    if (equalsIgnoringCase(text, "inf") || equalsIgnoringCase(text, "infinity"))
        return sign * std::numeric_limits<double>::infinity();
    std::optional<double> value;
    if (text.starts_with("0x") || text.starts_with("0X"))
        value = parsedNumber(text.substr(2), std::chars_format::hex);
    else if (isDigit(text.front()) || text.front() == '.')
        value = parsedNumber(text, std::chars_format::general);
    if (!value)
        if (const std::string plain = withoutThousands(text); !plain.empty())
            value = parsedNumber(plain, std::chars_format::general);
    return value ? std::optional(sign * *value) : std::nullopt;
}

std::optional<std::int64_t> integerIn(std::string_view text)
{
    text = trimmed(text);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size())
        return value;
    const auto number = numberIn(text);
    if (!number || !(std::abs(*number) < 9e18) || std::trunc(*number) != *number)
        return std::nullopt;
    return static_cast<std::int64_t>(*number);
}

std::optional<std::int64_t> nanosecondsIn(std::string_view seconds)
{
    seconds = trimmed(seconds);
    const auto point = seconds.find('.');
    const auto whole = integerIn(seconds.substr(0, point));
    std::string fraction(point == std::string_view::npos ? std::string_view() : seconds.substr(point + 1, 9));
    const bool isPlain = std::ranges::all_of(fraction, isDigit) && !seconds.starts_with('-')
        && (point == std::string_view::npos || std::ranges::all_of(seconds.substr(point + 1), isDigit));
    if (!isPlain || !whole) {
        const auto value = numberIn(seconds);
        return value && *value >= 0 && *value < 9e9 ? std::optional(static_cast<std::int64_t>(*value * 1e9))
                                                    : std::nullopt;
    }
    if (*whole < 0 || *whole > 9'000'000'000)
        return std::nullopt;
    fraction.resize(9, '0');
    return *whole * 1'000'000'000 + integerIn(fraction).value_or(0);
}

std::optional<std::int64_t> leadingInteger(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::string_view wordAfter(std::string_view line, std::string_view key)
{
    for (auto at = line.find(key); at != std::string_view::npos; at = line.find(key, at + 1)) {
        const std::size_t behind = at + key.size();
        if ((at > 0 && !isAsciiSpace(line[at - 1])) || behind >= line.size() || !isAsciiSpace(line[behind]))
            continue;
        std::size_t begin = behind;
        while (begin < line.size() && isAsciiSpace(line[begin]))
            ++begin;
        std::size_t end = begin;
        while (end < line.size() && !isAsciiSpace(line[end]))
            ++end;
        return line.substr(begin, end - begin);
    }
    return {};
}

std::optional<std::int64_t> momentIn(std::string_view text)
{
    text = trimmed(text);
    const int year = digitsAt(text, 0, 4), month = digitsAt(text, 5, 2), day = digitsAt(text, 8, 2);
    const int hour = digitsAt(text, 11, 2), minute = digitsAt(text, 14, 2), second = digitsAt(text, 17, 2);
    // Recordings hold moments before 2116.
    if (year < 1970 || year > 2115 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 24
        || minute < 0 || minute > 59 || second < 0 || second > 60 || (text[4] != '/' && text[4] != '-')
        || text[13] != ':')
        return std::nullopt;
    const std::chrono::sys_days date = std::chrono::year(year) / month / day;
    std::int64_t nanoseconds = 0, unit = 100'000'000;
    for (std::size_t i = 20; i < text.size() && text[19] == '.' && isDigit(text[i]) && unit > 0; ++i, unit /= 10)
        nanoseconds += (text[i] - '0') * unit;
    return ((date.time_since_epoch().count() * std::int64_t(24) + hour) * 3600 + minute * 60 + second) * 1'000'000'000
        + nanoseconds;
}

std::string_view withoutWrappers(std::string_view line, std::string &scratch)
{
    if (line.find('\x1b') != std::string_view::npos) {
        scratch = withoutColours(line);
        line = scratch;
    }
    if (line.starts_with("\xef\xbb\xbf"))
        line.remove_prefix(3);
    for (line = trimmed(line); std::size_t size = wrapperSize(line);)
        line = trimmed(line.substr(size));
    return line;
}

} // namespace trainyard::readers::measured
