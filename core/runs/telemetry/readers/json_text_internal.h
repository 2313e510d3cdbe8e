#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What readers of JSON share: the blanks between its values, NUL among them as files that were cut hold it, and the
// bytes that an escape stands for. Pure functions, any thread.

#include <string>

namespace trainyard::readers {

/// Whether the byte is a blank of JSON, or NUL.
[[nodiscard]] constexpr bool isJsonBlank(char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r' || byte == '\0';
}

/// Appends the code point as UTF-8.
inline void appendUtf8(std::string &text, unsigned code)
{
    const auto add = [&](unsigned byte) { text.push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
        add(code);
    } else if (code < 0x800) {
        add(0xc0 | (code >> 6));
        add(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        add(0xe0 | (code >> 12));
        add(0x80 | ((code >> 6) & 0x3f));
        add(0x80 | (code & 0x3f));
    } else {
        add(0xf0 | (code >> 18));
        add(0x80 | ((code >> 12) & 0x3f));
        add(0x80 | ((code >> 6) & 0x3f));
        add(0x80 | (code & 0x3f));
    }
}

} // namespace trainyard::readers
