#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the text that tools print is made of: numbers as programs and people write them, moments, fields between blanks,
// commas or bars. Small scanners over std::string_view without locale and without copies; those that take something
// move the front of the view behind it. Pure functions, any thread.

#include "core/base/ascii_text.h"
#include "core/runs/telemetry/recording.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::readers {

[[nodiscard]] constexpr bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}
[[nodiscard]] constexpr bool isLetter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
/// Whether the character may stand in the name of a variable, behind its first one.
[[nodiscard]] constexpr bool isNameChar(char c)
{
    return isLetter(c) || isDigit(c) || c == '_';
}
/// Whether the number is one that was measured: "NaN KB" is none.
[[nodiscard]] inline bool isFigure(double value)
{
    return std::isfinite(value) && value >= 0;
}
/// Within int, else -1.
[[nodiscard]] int boundedInt(std::int64_t value);

bool takeText(std::string_view &text, std::string_view expected);
/// Digits at the front; nullopt without, or beyond 18 of them.
std::optional<std::int64_t> takeWhole(std::string_view &text);
/// A number behind blanks: "1.875063E+00", "10,050" (groups of three), "nan", "-inf", "Infinity". Not finite ones are
/// NaN. Nullopt where there is none ("N/A", "-", "").
std::optional<double> takeNumber(std::string_view &text);
/// "66.91GiB", "678.86 MB", "12 B": bytes. MB is 1024 KB, as PyTorch and DeepSpeed count; without a unit nullopt.
std::optional<double> takeBytes(std::string_view &text);

/// The number that `text` begins with, as takeNumber() reads it; of "-12 ms" -12 as a whole one.
[[nodiscard]] std::optional<double> leadingNumber(std::string_view text);
[[nodiscard]] std::optional<std::int64_t> leadingInteger(std::string_view text);
/// The same of "11.5K", "0.262M": thousands and so on, where the letter ends the word.
[[nodiscard]] std::optional<double> leadingCount(std::string_view text);
/// Decimal, "1e+06", "+Inf", "-inf", "NaN", "0x1p-2", "10,050"; nothing unless the whole of it is one.
[[nodiscard]] std::optional<double> numberIn(std::string_view text);
/// "-12", and "12.0" or "1e6" where that is whole.
[[nodiscard]] std::optional<std::int64_t> integerIn(std::string_view text);
/// Nanoseconds of seconds written in decimals ("1795225424.446"), without the way through double; nothing
/// where they are negative or beyond the year 2255.
[[nodiscard]] std::optional<std::int64_t> nanosecondsIn(std::string_view seconds);

/// The first "YYYY-MM-DD HH:MM:SS" in the text (T between the two, a fraction behind . or , and a zone behind it are
/// read): Unix nanoseconds, as if a time without zone were UTC. Years 1990 to 2115: recordings end in 2116.
[[nodiscard]] std::optional<Moment> stampIn(std::string_view text);
/// The same of "2024/05/01 12:00:00.123" or "2024-05-01T12:00:00" at the front, from 1970 on: of a column of times.
[[nodiscard]] std::optional<Moment> momentIn(std::string_view text);

[[nodiscard]] std::vector<std::string_view> fieldsOf(std::string_view line); // between blanks and tabs
[[nodiscard]] std::vector<std::string_view> fieldsAt(std::string_view line, char separator); // trimmed
/// The word behind `key` and blanks, as 3 in "rank 3 nranks 8"; empty where there is none.
[[nodiscard]] std::string_view wordAfter(std::string_view line, std::string_view key);
/// The value behind `key` wherever it stands in the text: of "tps:" in "  tps: 10,050  tflops: …" what follows it.
/// `key` must not continue a longer word.
[[nodiscard]] std::optional<std::string_view> behind(std::string_view text, std::string_view key);

struct LogField {
    std::string_view key, value; // trimmed
    bool isClosed = false; // a bar stands behind it
};
/// Takes the next "key: value", "key=value" or, of 2019, "key 1.5" that stands before a bar or the end; pieces that
/// are none of them are passed over. False at the end.
bool takeField(std::string_view &text, LogField &field);

} // namespace trainyard::readers
