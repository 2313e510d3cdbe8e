#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Builds one line of a stream: keys with their values, in the order in which they are told. Numbers as from_chars gives
// them back; a double that is none is null, an infinite one a word in quotes.

#include "core/runs/telemetry/recording.h"

#include <charconv>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

namespace trainyard::live {

/// In quotes, escaped; bytes that are no UTF-8 as U+FFFD.
[[nodiscard]] std::string jsonText(std::string_view text);

class LineText {
public:
    explicit LineText(std::string_view event) { m_text = "{\"event\":\"" + std::string(event) + "\""; }

    LineText &key(std::string_view name)
    {
        m_text.append(",\"").append(name).append("\":");
        return *this;
    }
    LineText &raw(std::string_view json)
    {
        m_text += json;
        return *this;
    }
    LineText &text(std::string_view name, std::string_view value) { return key(name).raw(jsonText(value)); }
    LineText &whole(std::string_view name, std::int64_t value)
    {
        key(name);
        append(value);
        return *this;
    }
    /// A value for all, or [a,b,…]: of the items 0 … count - 1, as `write` appends one.
    template <class Write> LineText &column(std::string_view name, std::size_t count, const Write &write)
    {
        key(name);
        if (count == 1) {
            write(0);
            return *this;
        }
        m_text += '[';
        for (std::size_t i = 0; i < count; ++i) {
            if (i > 0)
                m_text += ',';
            write(i);
        }
        m_text += ']';
        return *this;
    }
    void append(std::int64_t value)
    {
        char digits[24];
        m_text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    }
    void append(double value)
    {
        char digits[40];
        if (std::isnan(value))
            m_text += "null";
        else if (std::isinf(value))
            m_text += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
        else
            m_text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    }
    [[nodiscard]] std::string take() { return std::move(m_text.append("}\n")); }

private:
    std::string m_text;
};

} // namespace trainyard::live
