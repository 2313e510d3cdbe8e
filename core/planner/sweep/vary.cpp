// SPDX-License-Identifier: GPL-3.0-or-later
// "KEY=V1,V2,…" as an axis: values between commas that no bracket or quote holds, and ranges of numbers.
#include "core/base/ascii_text.h"
#include "core/base/split_text.h"
#include "core/planner/sweep/sweep.h"

#include <charconv>
#include <cmath>

namespace trainyard {

namespace {

std::optional<double> number(std::string_view text)
{
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

/// The shortest that reads back as the number; whole ones without exponent, as far as they are exact.
std::string axisNumberText(double value)
{
    char text[32];
    const bool isWhole = value == std::floor(value) && std::abs(value) < 9e15;
    const auto end = isWhole ? std::to_chars(text, text + sizeof text, static_cast<long long>(value)).ptr
                             : std::to_chars(text, text + sizeof text, value).ptr;
    return { text, end };
}

struct Range {
    double first = 0, last = 0, step = 1;
    bool isFactor = false;
};

/// "FIRST..LAST", "FIRST..LAST:+STEP" or "FIRST..LAST:*FACTOR"; nothing where the text is no range.
std::optional<Range> rangeOf(std::string_view text)
{
    const std::size_t dots = text.find("..");
    if (dots == std::string_view::npos)
        return std::nullopt;
    const std::size_t colon = text.find(':', dots);
    const auto first = number(text.substr(0, dots));
    const auto last = number(text.substr(dots + 2, colon == std::string_view::npos ? colon : colon - dots - 2));
    if (!first || !last)
        return std::nullopt;
    Range range { *first, *last };
    if (colon == std::string_view::npos)
        return range;
    const std::string_view step = text.substr(colon + 1);
    const auto by = step.empty() ? std::nullopt : number(step.substr(1));
    if (!by || (step[0] != '*' && step[0] != '+'))
        return std::nullopt;
    range.step = *by;
    range.isFactor = step[0] == '*';
    return range;
}

bool isSound(const Range &range)
{
    return range.isFactor ? range.step > 1 && range.first > 0 : range.step > 0;
}

/// Each number from the first by whole steps, so that no rounding adds up.
void append(const Range &range, std::vector<std::string> &values)
{
    const double ease = 1 + 1e-12; // 0.1..0.3:+0.1 has 0.3
    for (std::size_t i = 0; values.size() <= kMostAxisValues; ++i) {
        const double value =
            range.isFactor ? range.first * std::pow(range.step, double(i)) : range.first + double(i) * range.step;
        if (value > range.last + (ease - 1) * std::max(std::abs(range.last), std::abs(range.step)))
            return;
        // Twelve digits: 0.1 + 2 × 0.1 is written 0.3
        char digits[32];
        const auto end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 12).ptr;
        values.push_back(axisNumberText(number({ digits, std::size_t(end - digits) }).value_or(value)));
    }
}

} // namespace

Expected<SweepAxis> parseVary(std::string_view text)
{
    const auto refused = [&](std::string what, std::string right) {
        return std::unexpected(
            Error { ErrorCode::BadValue, "--vary " + std::string(text), std::move(what), std::move(right) });
    };
    const std::size_t equals = text.find('=');
    const std::string_view key = trimmed(text.substr(0, equals));
    if (equals == std::string_view::npos || key.empty())
        return refused("is not KEY=V1,V2,…", "for example --vary parallelism.pipeline=1,2,4");
    const auto parts = splitOutside(text.substr(equals + 1));
    if (!parts)
        return refused("a bracket or a quote is not closed", "values between commas, each JSON or a text");
    SweepAxis axis { std::string(key), {} };
    for (const std::string_view part : *parts) {
        if (part.empty())
            return refused("a value is missing", "values between commas: --vary " + std::string(key) + "=1,2,4");
        if (const auto range = rangeOf(part)) {
            if (!isSound(*range))
                return refused(std::string(part) + " never ends",
                    range->isFactor ? "a factor above 1 and a first number above 0: 1..16:*2"
                                    : "a step above 0: 10..100:+10");
            if (range->last < range->first)
                return refused(std::string(part) + " counts down", "the smaller number first");
            append(*range, axis.values);
        } else {
            axis.values.emplace_back(part);
        }
        if (axis.values.size() > kMostAxisValues)
            return refused("has too many values", "at most " + std::to_string(kMostAxisValues) + " of one key");
    }
    return axis;
}

} // namespace trainyard
