// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/log_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>

namespace trainyard::readers {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool startsWithWord(std::string_view text, std::string_view word)
{
    if (text.size() < word.size())
        return false;
    for (std::size_t i = 0; i < word.size(); ++i)
        if ((text[i] | 0x20) != word[i])
            return false;
    return true;
}

/// Behind "nan", "inf" or "infinity" with its sign, 0 without.
std::size_t wordOfNoNumber(std::string_view text)
{
    const std::size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    static constexpr std::array<std::string_view, 3> kWords { "infinity", "inf", "nan" };
    for (const std::string_view word : kWords)
        if (startsWithWord(text.substr(sign), word)) {
            const std::size_t end = sign + word.size();
            return end < text.size() && isLetter(text[end]) ? 0 : end;
        }
    return 0;
}

/// Digits with separators of thousands: "10,050", "1,234,567.8". Behind them, or 0 where there is no separator.
std::size_t groupsEnd(std::string_view text)
{
    std::size_t at = 0;
    while (at < text.size() && at < 3 && isDigit(text[at]))
        ++at;
    if (at == 0)
        return 0;
    std::size_t end = 0;
    while (at + 3 < text.size() && text[at] == ',' && isDigit(text[at + 1]) && isDigit(text[at + 2])
        && isDigit(text[at + 3]) && !(at + 4 < text.size() && isDigit(text[at + 4])))
        end = at += 4;
    return end;
}

std::optional<int> twoDigits(std::string_view text, std::size_t at, int most)
{
    if (at + 1 >= text.size() || !isDigit(text[at]) || !isDigit(text[at + 1]))
        return std::nullopt;
    const int value = (text[at] - '0') * 10 + (text[at + 1] - '0');
    return value <= most ? std::optional(value) : std::nullopt;
}

/// Seconds east of UTC of "Z", "+01:00" or "+0100" at the front.
std::int64_t zoneOf(std::string_view text)
{
    if (text.empty() || (text[0] != '+' && text[0] != '-'))
        return 0;
    const auto hours = twoDigits(text, 1, 14);
    const auto minutes = twoDigits(text, text.size() > 3 && text[3] == ':' ? 4 : 3, 59);
    return hours && minutes ? (text[0] == '-' ? -1 : 1) * (*hours * 3600 + *minutes * 60) : 0;
}

/// Recordings hold moments before 2116.
constexpr int kLastYear = 2115;

/// "2024-04-06 02:59:36.5" at `at`.
std::optional<Moment> stampAt(std::string_view text, std::size_t at)
{
    const auto century = twoDigits(text, at, 99), year = twoDigits(text, at + 2, 99);
    const auto month = twoDigits(text, at + 5, 12), day = twoDigits(text, at + 8, 31);
    const auto hour = twoDigits(text, at + 11, 23), minute = twoDigits(text, at + 14, 59),
               second = twoDigits(text, at + 17, 60);
    if (!century || !year || !month || !day || !hour || !minute || !second || text[at + 13] != ':'
        || text[at + 16] != ':' || (text[at + 10] != ' ' && text[at + 10] != 'T') || text[at + 7] != '-')
        return std::nullopt;
    const int fullYear = *century * 100 + *year;
    const std::chrono::year_month_day date { std::chrono::year(fullYear),
        std::chrono::month(static_cast<unsigned>(*month)), std::chrono::day(static_cast<unsigned>(*day)) };
    if (fullYear < 1990 || fullYear > kLastYear || !date.ok())
        return std::nullopt;
    std::int64_t nanoseconds = 0, scale = 100'000'000;
    std::size_t end = at + 19;
    if (end + 1 < text.size() && (text[end] == '.' || text[end] == ',') && isDigit(text[end + 1]))
        for (++end; end < text.size() && isDigit(text[end]); ++end, scale /= 10)
            nanoseconds += (text[end] - '0') * scale;
    const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
    const std::int64_t seconds =
        days * 86400 + *hour * 3600 + *minute * 60 + *second - zoneOf(text.substr(std::min(end, text.size())));
    return seconds * 1'000'000'000 + nanoseconds;
}

} // namespace

int boundedInt(std::int64_t value)
{
    return value >= 0 && value <= std::numeric_limits<int>::max() ? static_cast<int>(value) : -1;
}

bool takeText(std::string_view &text, std::string_view expected)
{
    if (!text.starts_with(expected))
        return false;
    text.remove_prefix(expected.size());
    return true;
}

std::optional<std::int64_t> takeWhole(std::string_view &text)
{
    std::size_t end = 0;
    std::int64_t value = 0;
    while (end < text.size() && isDigit(text[end])) {
        if (end == 18)
            return std::nullopt;
        value = value * 10 + (text[end++] - '0');
    }
    if (end == 0)
        return std::nullopt;
    text.remove_prefix(end);
    return value;
}

std::optional<double> takeNumber(std::string_view &text)
{
    std::string_view rest = trimmedStart(text);
    if (const std::size_t end = wordOfNoNumber(rest)) {
        text = rest.substr(end);
        return kNaN;
    }
    const bool isNegative = rest.starts_with('-');
    if (isNegative || rest.starts_with('+'))
        rest.remove_prefix(1);
    if (rest.empty() || !(isDigit(rest[0]) || (rest[0] == '.' && rest.size() > 1 && isDigit(rest[1]))))
        return std::nullopt;
    double value = 0;
    if (const std::size_t groups = groupsEnd(rest)) {
        std::array<char, 64> digits {};
        std::size_t count = 0, end = 0;
        for (; end < rest.size() && count < digits.size() && (end < groups || isDigit(rest[end]) || rest[end] == '.');
             ++end)
            if (rest[end] != ',')
                digits[count++] = rest[end];
        std::from_chars(digits.data(), digits.data() + count, value);
        text = rest.substr(end);
    } else {
        const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), value);
        if (read.ec != std::errc())
            value = kNaN; // beyond what a double holds
        text = rest.substr(static_cast<std::size_t>(read.ptr - rest.data()));
    }
    return isNegative ? -value : value;
}

std::optional<double> numberIn(std::string_view text)
{
    return takeNumber(text);
}

std::optional<double> takeBytes(std::string_view &text)
{
    std::string_view rest = text;
    const auto number = takeNumber(rest);
    if (!number)
        return std::nullopt;
    rest = trimmedStart(rest);
    static constexpr std::string_view kPrefixes = "kmgtp";
    double factor = 1;
    if (!rest.empty())
        if (const std::size_t power = kPrefixes.find(static_cast<char>(rest[0] | 0x20)); power != kPrefixes.npos) {
            factor = std::pow(1024.0, static_cast<double>(power + 1));
            rest.remove_prefix(1);
            takeText(rest, "i");
        }
    if (!takeText(rest, "B"))
        return std::nullopt;
    text = rest;
    return *number * factor;
}

std::optional<Moment> stampIn(std::string_view text)
{
    for (std::size_t at = text.find('-'); at != text.npos; at = text.find('-', at + 1))
        if (at >= 4 && at + 15 <= text.size() && isDigit(text[at - 1]))
            if (const auto stamp = stampAt(text, at - 4))
                return stamp;
    return std::nullopt;
}

bool takeField(std::string_view &text, LogField &field)
{
    while (!text.empty()) {
        const std::size_t bar = text.find('|');
        const std::string_view piece = text.substr(0, bar);
        text = bar == text.npos ? std::string_view() : text.substr(bar + 1);
        std::size_t sign = piece.find_first_of(":=");
        if (sign == piece.npos) {
            const std::string_view own = trimmed(piece);
            const std::size_t blank = own.find_last_of(' ');
            if (blank == own.npos || !numberIn(own.substr(blank)))
                continue;
            sign = static_cast<std::size_t>(own.data() - piece.data()) + blank;
        }
        field = { trimmed(piece.substr(0, sign)), trimmed(piece.substr(sign + 1)), bar != text.npos };
        if (!field.key.empty())
            return true;
    }
    return false;
}

std::optional<std::string_view> behind(std::string_view text, std::string_view key)
{
    for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1))
        if (at == 0 || (!isLetter(text[at - 1]) && !isDigit(text[at - 1]) && text[at - 1] != '_'))
            return text.substr(at + key.size());
    return std::nullopt;
}

} // namespace trainyard::readers
