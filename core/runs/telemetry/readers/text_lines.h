#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of a text as a person would read them: split at LF, CR and CRLF (progress bars are redrawn with CR), without
// colours, NUL bytes and byte order marks, and without what launchers put in front of each line (torchrun, srun -l,
// mpirun, kubectl, docker, Ray, nemo_run, Python's logging). Every reader of lines takes them from here. Values, no
// state but the position; any thread.

#include "core/runs/telemetry/recording.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard::readers {

struct TextLine {
    /// With the blanks around it; valid until the next line is read.
    std::string_view text = {};
    /// That a launcher's prefix names, local or global, as the launcher has it; -1: none does.
    int process = -1;
    /// Unix nanoseconds of a prefix that holds a time, as `kubectl logs --timestamps` writes it.
    std::optional<Moment> stamp = std::nullopt;
    /// Of lines as LF divides them, from 1.
    std::int64_t number = 0;
    /// The byte of the text where the line begins.
    std::size_t begin = 0;
    /// The text ends in it: what it ends with may be half a number.
    bool isOpen = false;
};

class TextLines {
public:
    explicit TextLines(std::string_view text);
    /// Of a text that goes on: its first line has this number.
    TextLines(std::string_view text, std::int64_t firstNumber)
        : m_text(text)
        , m_number(firstNumber)
    {
    }

    /// The next one that is not empty; false at the end.
    bool next(TextLine &line);
    /// Bytes read so far.
    [[nodiscard]] std::size_t position() const { return m_at; }
    /// Of the line that comes next.
    [[nodiscard]] std::int64_t number() const { return m_number; }

private:
    std::string_view cleaned(std::string_view line);

    std::string_view m_text;
    std::size_t m_at = 0;
    std::int64_t m_number = 1;
    std::string m_buffer;
};

/// When the line was printed: a launcher's moment, or else the first one in this part of it.
[[nodiscard]] std::optional<Moment> printedAt(const TextLine &line, std::string_view part);

/// The text without the prefixes of its lines, for readers of what is no text of lines (JSON, XML, YAML) and was
/// printed under a launcher; nullopt where its first line that is not empty has none.
[[nodiscard]] std::optional<std::string> withoutLaunchers(std::string_view text);

} // namespace trainyard::readers
