#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// JSON text of one line to its event. Numbers that are moments never go through a double; NaN and Infinity may stand
// bare, as Python writes them, in quotes, or as null. One parser a thread, shared by all of its connections: simdjson
// keeps room for the longest line of them.

#include "core/live/decoders/line_event_internal.h"

#include <memory>

namespace trainyard::live {

class LineParser {
public:
    LineParser();
    ~LineParser();
    LineParser(const LineParser &) = delete;
    LineParser &operator=(const LineParser &) = delete;

    /// bytes that are readable behind the text
    static constexpr std::size_t kPadding = 64;
    /// One JSON object, nothing behind it. Empty where it was read; else what is wrong, a few words that do not end.
    [[nodiscard]] const char *parse(const char *text, std::size_t size, LineEvent &event);

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace trainyard::live
