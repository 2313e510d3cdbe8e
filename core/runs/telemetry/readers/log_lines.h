#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of a training log as a person would read them: split at LF, CR and CRLF (progress bars are redrawn with CR),
// without colours, NUL bytes and byte order marks, and without what launchers put in front of each line (torchrun,
// srun -l, mpirun, kubectl, Ray, nemo_run, Python's logging). Values, no state but the position; any thread.

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::readers {

struct LogLine {
    std::string_view text; // valid until the next line is read
    int process = -1; // that a launcher's prefix names; local or global, as the launcher has it
    std::int64_t number = 0; // of lines as LF divides them, from 1
    bool isOpen = false; // the file ends in it: what it ends with may be half a number
};

class LogLines {
public:
    explicit LogLines(std::string_view text);
    /// Of a text that goes on: its first line has this number.
    LogLines(std::string_view text, std::int64_t firstNumber)
        : m_text(text)
        , m_number(firstNumber)
    {
    }

    /// The next one that is not empty; false at the end.
    bool next(LogLine &line);
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

/// Takes the prefixes of launchers off `line`; the number that one of them had, or -1.
int takeLauncherPrefixes(std::string_view &line);

} // namespace trainyard::readers
