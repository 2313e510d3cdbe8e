#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One line of a stream (stream_lines.h) as values: every event's keys in one place, a key that may be a column as one.
// Texts are views into the line or into the parser, and hold until the next line is read. Not thread-safe.

#include "core/runs/telemetry/recording.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainyard::live {

enum class LineEventKind : std::uint8_t {
    /// of a later version: left out
    Unknown,
    Hello,
    Arguments,
    Group,
    Step,
    Span,
    Collective,
    Sample,
    End
};

/// One value for all events of a line, or one for each.
template <class T> struct LineColumn {
    std::vector<T> values;
    bool isArray = false;

    [[nodiscard]] bool isTold() const { return isArray || !values.empty(); }
    [[nodiscard]] T at(std::size_t i, T other) const
    {
        const std::size_t place = isArray ? i : 0; // an array may be empty
        return place < values.size() ? values[place] : other;
    }
    void clear()
    {
        values.clear();
        isArray = false;
    }
};

struct LineEvent {
    LineEventKind kind = LineEventKind::Unknown;
    /// it has the key "event"
    bool hasEvent = false;
    /// -1: null, nobody's
    std::optional<int> rank;
    std::optional<std::string_view> host;
    std::string_view format, run, gpu, unit, where, stream, description;
    std::int64_t version = 0, worldSize = 0, device = 0, streamNumber = 0;
    bool isGpu = true;
    LineColumn<std::string_view> name, work, group, operation;
    /// A missing one of a column (null) is kNoMoment.
    LineColumn<std::int64_t> number, start, end, duration, launched, sequence, step, at;
    LineColumn<double> value, bytes;
    /// of a group
    std::vector<std::int64_t> ranks;
    std::vector<std::pair<std::string_view, std::string>> arguments;

    /// How many events the line has: the length of its columns. Empty where columns differ.
    [[nodiscard]] std::optional<std::size_t> size() const;
    void clear();
};

} // namespace trainyard::live
