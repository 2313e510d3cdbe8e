#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One event of a Chrome trace, read from the marks of a structural index: the fields that a recording is made of, as
// they stand in the text. Nothing is copied, all values are skipped by their grammar.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard::readers {

/// Bytes of one value of the text: a string with its quotes, a number, or a whole list. Empty: not there.
using JsonValue = std::string_view;

/// A stretch of JSON and its marks.
struct MarkedText {
    std::string_view text;
    const std::uint32_t *marks = nullptr;
    std::size_t count = 0;

    [[nodiscard]] char at(std::size_t mark) const { return text[marks[mark]]; }
    [[nodiscard]] std::size_t offset(std::size_t mark) const { return mark < count ? marks[mark] : text.size(); }
    /// From one mark up to another, without blanks at its end.
    [[nodiscard]] JsonValue between(std::size_t first, std::size_t behind) const;
};

enum class Walked : std::uint8_t { Done, Short, Bad }; // Short: the marks end inside of it

/// Past the value at `mark`; its grammar is checked.
[[nodiscard]] Walked skipValue(const MarkedText &text, std::size_t &mark);

struct TraceEvent {
    JsonValue phase, category, name, process, thread, start, duration, id;
    // of args
    JsonValue stream, device, correlation, bytes, collective, dtype, inElements, outElements, groupSize, sequence;
    JsonValue groupName, groupDescription, groupRanks, rankStart, rankStride, inputDims, inputType, inputValues, label;
    JsonValue taskType; // of Ascend's hardware
    JsonValue grid, block; // of a kernel, lists of three
};

/// Reads the object at `mark` and goes past it.
[[nodiscard]] Walked readEvent(const MarkedText &text, std::size_t &mark, TraceEvent &event);

/// Without quotes; escapes as they are. What is no string is given as it stands.
[[nodiscard]] std::string_view unquoted(JsonValue value);
/// With escapes undone, and bytes that are no UTF-8 replaced.
[[nodiscard]] std::string plainText(JsonValue value);

/// Whole numbers, also inside quotes, also with a fraction of zeros ("68.0").
[[nodiscard]] std::optional<std::int64_t> wholeNumber(JsonValue value);
/// Microseconds in decimals to nanoseconds, by its digits: never through a double. Within ±4·10¹⁸.
[[nodiscard]] std::optional<std::int64_t> nanosecondsOf(JsonValue value);

} // namespace trainyard::readers
