#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Small scanners of the text that tools print: lines of whatever line ends, fields between blanks, numbers in the
// notations of the field, and what launchers put before a line. Views of the text, no copies, no locale, any thread.

#include "core/base/ascii_text.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::readers::measured {

/// Lines without their ends (\n, \r\n, a lone \r), one after the other.
class TextLines {
public:
    explicit TextLines(std::string_view text)
        : m_text(text)
    {
    }
    bool next(); // false at the end
    [[nodiscard]] std::string_view line() const { return m_line; }
    [[nodiscard]] bool isFinished() const { return m_isFinished; } // it had its line end
    [[nodiscard]] std::size_t begin() const { return m_begin; } // byte where the line begins

private:
    std::string_view m_text, m_line;
    std::size_t m_begin = 0, m_at = 0;
    bool m_isFinished = true;
};

[[nodiscard]] std::vector<std::string_view> fieldsOf(std::string_view line); // between blanks and tabs
[[nodiscard]] std::vector<std::string_view> fieldsAt(std::string_view line, char separator); // trimmed

/// Decimal, "1e+06", "+Inf", "-inf", "NaN", "0x1p-2", "10,050"; nothing unless the whole of it is one.
[[nodiscard]] std::optional<double> numberIn(std::string_view text);
/// "-12", and "12.0" or "1e6" where that is whole.
[[nodiscard]] std::optional<std::int64_t> integerIn(std::string_view text);
/// Nanoseconds of seconds written in decimals ("1795225424.446"), without the way through double; nothing
/// where they are negative or beyond the year 2255.
[[nodiscard]] std::optional<std::int64_t> nanosecondsIn(std::string_view seconds);
/// The number that `text` begins with; nothing where it begins otherwise.
[[nodiscard]] std::optional<std::int64_t> leadingInteger(std::string_view text);
/// The word behind `key` and blanks, as 3 in "rank 3 nranks 8"; empty where there is none.
[[nodiscard]] std::string_view wordAfter(std::string_view line, std::string_view key);

/// Unix time in nanoseconds of "2024/05/01 12:00:00.123" or "2024-05-01T12:00:00", read as UTC.
[[nodiscard]] std::optional<std::int64_t> momentIn(std::string_view text);

/// Without colours and without what launchers put before a line: "[1,0]<stdout>:", "[rank0]:", "[default0]:", "0: "
/// (srun -l), "[pod/name/container]", a time of kubectl, blanks. `scratch` holds the line where colours were cut out.
[[nodiscard]] std::string_view withoutWrappers(std::string_view line, std::string &scratch);

} // namespace trainyard::readers::measured
