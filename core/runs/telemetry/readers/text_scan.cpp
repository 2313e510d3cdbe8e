// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <limits>

namespace trainyard::readers {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool startsWithWord(std::string_view text, std::string_view word)
{
    if (text.size() < word.size())
        return false;
    for (std::size_t i = 0; i < word.size(); ++i)
        if ((text[i] | 0x20) != word[i])
            return false;
    return true;
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

/// The number of digits, or of "nan", "inf" or "infinity", at the front, its sign taken off before; what is too large
/// is infinite and what is too small 0. Moves `text` behind it.
std::optional<double> takeUnsigned(std::string_view &text)
{
    static constexpr std::array<std::string_view, 3> kWords { "infinity", "inf", "nan" };
    for (const std::string_view word : kWords)
        if (startsWithWord(text, word)) {
            if (word.size() < text.size() && isLetter(text[word.size()]))
                return std::nullopt;
            text.remove_prefix(word.size());
            return word == "nan" ? std::numeric_limits<double>::quiet_NaN() : kInfinity;
        }
    if (text.empty() || !(isDigit(text[0]) || (text[0] == '.' && text.size() > 1 && isDigit(text[1]))))
        return std::nullopt;
    double value = 0;
    if (const std::size_t groups = groupsEnd(text)) {
        std::array<char, 64> digits {};
        std::size_t count = 0, end = 0;
        for (; end < text.size() && count < digits.size() && (end < groups || isDigit(text[end]) || text[end] == '.');
             ++end)
            if (text[end] != ',')
                digits[count++] = text[end];
        std::from_chars(digits.data(), digits.data() + count, value);
        text.remove_prefix(end);
        return value;
    }
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    const auto size = static_cast<std::size_t>(read.ptr - text.data());
    if (read.ec != std::errc())
        value = text.substr(0, size).find_first_of("eE") != text.npos && text.substr(0, size).find('-') != text.npos
            ? 0
            : kInfinity;
    text.remove_prefix(size);
    return value;
}

/// Takes a sign off the front: -1 or 1.
double takeSign(std::string_view &text)
{
    const double sign = text.starts_with('-') ? -1 : 1;
    if (text.starts_with('-') || text.starts_with('+'))
        text.remove_prefix(1);
    return sign;
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

/// "2024-04-06 02:59:36.5" at `at`; "2024/04/06 …" too.
std::optional<Moment> stampAt(std::string_view text, std::size_t at, int firstYear)
{
    const auto century = twoDigits(text, at, 99), year = twoDigits(text, at + 2, 99);
    const auto month = twoDigits(text, at + 5, 12), day = twoDigits(text, at + 8, 31);
    const auto hour = twoDigits(text, at + 11, 23), minute = twoDigits(text, at + 14, 59),
               second = twoDigits(text, at + 17, 60);
    if (!century || !year || !month || !day || !hour || !minute || !second || text[at + 13] != ':'
        || text[at + 16] != ':' || (text[at + 10] != ' ' && text[at + 10] != 'T')
        || (text[at + 7] != '-' && text[at + 7] != '/') || text[at + 4] != text[at + 7])
        return std::nullopt;
    const int fullYear = *century * 100 + *year;
    const std::chrono::year_month_day date { std::chrono::year(fullYear),
        std::chrono::month(static_cast<unsigned>(*month)), std::chrono::day(static_cast<unsigned>(*day)) };
    if (fullYear < firstYear || fullYear > kLastYear || !date.ok())
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
    const double sign = takeSign(rest);
    const auto value = takeUnsigned(rest);
    if (!value)
        return std::nullopt;
    text = rest;
    return std::isfinite(*value) ? sign * *value : std::numeric_limits<double>::quiet_NaN();
}

std::optional<double> leadingNumber(std::string_view text)
{
    return takeNumber(text);
}

std::optional<double> leadingCount(std::string_view text)
{
    const auto number = takeNumber(text);
    static constexpr std::string_view kThousands = "KMGTP";
    const std::size_t power = text.empty() ? kThousands.npos : kThousands.find(text[0]);
    const bool isWord = text.size() < 2 || text[1] == ' ' || text[1] == '|' || text[1] == ',';
    return number && power != kThousands.npos && isWord ? *number * std::pow(1000.0, double(power + 1)) : number;
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

std::optional<double> numberIn(std::string_view text)
{
    text = trimmed(text);
    const double sign = takeSign(text);
    std::optional<double> value;
    if (text.starts_with("0x") || text.starts_with("0X")) {
        double own = 0;
        text.remove_prefix(2);
        const auto read = std::from_chars(text.data(), text.data() + text.size(), own, std::chars_format::hex);
        if (read.ec == std::errc()) {
            value = own;
            text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
        }
    } else {
        value = takeUnsigned(text);
    }
    return value && text.empty() ? std::optional(sign * *value) : std::nullopt;
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

std::optional<Moment> stampIn(std::string_view text)
{
    for (std::size_t at = text.find('-'); at != text.npos; at = text.find('-', at + 1))
        if (at >= 4 && at + 15 <= text.size() && isDigit(text[at - 1]))
            if (const auto stamp = stampAt(text, at - 4, 1990))
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
            if (blank == own.npos || !leadingNumber(own.substr(blank)))
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

std::optional<Moment> momentIn(std::string_view text)
{
    return stampAt(trimmed(text), 0, 1970);
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

} // namespace trainyard::readers
