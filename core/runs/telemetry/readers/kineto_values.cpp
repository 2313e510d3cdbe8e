// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers and texts of a trace, from the bytes that stand there.
#include "core/runs/telemetry/readers/kineto_event_internal.h"

#include <simdjson.h>

#include <charconv>
#include <limits>

namespace trainyard::readers {

namespace {

constexpr std::int64_t kMostDecimal = 4'000'000'000'000'000'000;

/// value · 10^shift, rounded half away from zero; empty where a trace cannot mean it.
std::optional<std::int64_t> decimal(std::string_view text, int shift)
{
    const bool isNegative = text.starts_with('-');
    if (isNegative || text.starts_with('+'))
        text.remove_prefix(1);
    std::int64_t value = 0;
    int roundUp = -1; // the first digit that is left out
    int left = 0; // digits in front of the point that had no room: an exponent may take them back
    std::size_t at = 0;
    bool hasPoint = false, hasDigit = false;
    int scale = shift;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '.' && !hasPoint) {
            hasPoint = true;
            continue;
        }
        if (c < '0' || c > '9')
            break;
        hasDigit = true;
        if (value > (std::numeric_limits<std::int64_t>::max() - 9) / 10) {
            if (roundUp < 0)
                roundUp = c - '0';
            left += hasPoint ? 0 : 1;
            continue;
        }
        value = value * 10 + (c - '0');
        scale -= hasPoint ? 1 : 0;
    }
    if (!hasDigit)
        return std::nullopt;
    if (at < text.size()) {
        int exponent = 0;
        if (text[at] != 'e' && text[at] != 'E')
            return std::nullopt;
        const char *begin = text.data() + at + 1, *end = text.data() + text.size();
        if (begin < end && *begin == '+')
            ++begin;
        const auto read = std::from_chars(begin, end, exponent);
        if (read.ec != std::errc() || read.ptr != end || exponent > 100 || exponent < -100)
            return std::nullopt;
        scale += exponent;
    }
    scale += left;
    for (; scale > 0 && value != 0; --scale) {
        if (value > kMostDecimal / 10)
            return std::nullopt;
        value *= 10;
        roundUp = -1;
    }
    for (; scale < 0; ++scale) {
        roundUp = static_cast<int>(value % 10);
        value /= 10;
    }
    value += roundUp >= 5 ? 1 : 0;
    if (value > kMostDecimal)
        return std::nullopt;
    return isNegative ? -value : value;
}

void appendRune(std::string &text, std::uint32_t rune)
{
    if (rune >= 0xd800 && rune < 0xe000)
        rune = 0xfffd;
    if (rune < 0x80) {
        text += static_cast<char>(rune);
        return;
    }
    const int more = rune < 0x800 ? 1 : rune < 0x10000 ? 2 : 3;
    static constexpr unsigned char kFirst[] = { 0, 0xc0, 0xe0, 0xf0 };
    text += static_cast<char>(kFirst[more] | rune >> (6 * more));
    for (int i = more - 1; i >= 0; --i)
        text += static_cast<char>(0x80 | (rune >> (6 * i) & 0x3f));
}

/// Four hexadecimal digits behind a \u; empty where they are not.
std::optional<std::uint32_t> hexadecimal(std::string_view text)
{
    std::uint32_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (text.size() != 4 || read.ptr != text.data() + text.size())
        return std::nullopt;
    return value;
}

std::string withoutEscapes(std::string_view text)
{
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || i + 1 == text.size()) {
            result += text[i];
            continue;
        }
        const char c = text[++i];
        static constexpr std::string_view kLetters = "nrtbf", kMeant = "\n\r\t\b\f";
        if (const std::size_t known = kLetters.find(c); known != std::string_view::npos) {
            result += kMeant[known];
        } else if (const auto rune = c == 'u' ? hexadecimal(text.substr(i + 1, 4)) : std::nullopt; rune) {
            i += 4;
            std::uint32_t value = *rune;
            if (value >= 0xd800 && value < 0xdc00 && text.substr(i + 1, 2) == "\\u")
                if (const auto second = hexadecimal(text.substr(std::min(i + 3, text.size()), 4));
                    second && *second >= 0xdc00 && *second < 0xe000) {
                    value = 0x10000 + ((value - 0xd800) << 10) + (*second - 0xdc00);
                    i += 6;
                }
            appendRune(result, value);
        } else {
            result += c;
        }
    }
    return result;
}

/// Each byte that begins no character becomes U+FFFD.
std::string asUtf8(const std::string &text)
{
    if (simdjson::validate_utf8(text))
        return text;
    std::string result;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t length = 1;
        while (length <= 4 && i + length <= text.size() && !simdjson::validate_utf8(text.data() + i, length))
            ++length;
        const bool isCharacter = length <= 4 && i + length <= text.size();
        if (isCharacter)
            result.append(text, i, length);
        else
            appendRune(result, 0xfffd);
        i += isCharacter ? length : 1;
    }
    return result;
}

} // namespace

std::string_view unquoted(JsonValue value)
{
    return value.size() >= 2 && value.front() == '"' && value.back() == '"' ? value.substr(1, value.size() - 2) : value;
}

std::string plainText(JsonValue value)
{
    const std::string_view text = unquoted(value);
    return asUtf8(text.find('\\') == std::string_view::npos ? std::string(text) : withoutEscapes(text));
}

std::optional<std::int64_t> wholeNumber(JsonValue value)
{
    const std::string_view text = unquoted(value);
    std::int64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec == std::errc() && read.ptr == text.data() + text.size())
        return number;
    return decimal(text, 0);
}

std::optional<std::int64_t> nanosecondsOf(JsonValue value)
{
    return decimal(unquoted(value), 3);
}

} // namespace trainyard::readers
