#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the lines of logs are made of: numbers as programs and people write them, moments, fields "key: value" between
// bars. Small scanners over std::string_view without locale; those that take something move the front of the view
// behind it. Pure functions.

#include "core/base/ascii_text.h"
#include "core/runs/telemetry/recording.h"

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

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
[[nodiscard]] std::optional<double> numberIn(std::string_view text); // takeNumber of a copy
/// "66.91GiB", "678.86 MB", "12 B": bytes. MB is 1024 KB, as PyTorch and DeepSpeed count; without a unit nullopt.
std::optional<double> takeBytes(std::string_view &text);

/// The first "YYYY-MM-DD HH:MM:SS" in the text (T between the two, a fraction behind . or , and a zone behind it are
/// read): Unix nanoseconds, as if a time without zone were UTC. Years 1990 to 2115: recordings end in 2116.
[[nodiscard]] std::optional<Moment> stampIn(std::string_view text);

struct LogField {
    std::string_view key, value; // trimmed
    bool isClosed = false; // a bar stands behind it
};
/// Takes the next "key: value", "key=value" or, of 2019, "key 1.5" that stands before a bar or the end; pieces that
/// are none of them are passed over. False at the end.
bool takeField(std::string_view &text, LogField &field);

/// The value behind `key` wherever it stands in the text: of "tps:" in "  tps: 10,050  tflops: …" what follows it.
/// `key` must not continue a longer word.
[[nodiscard]] std::optional<std::string_view> behind(std::string_view text, std::string_view key);

} // namespace trainyard::readers
