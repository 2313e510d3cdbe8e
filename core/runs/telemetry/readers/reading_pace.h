#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How a reader goes through a long source: progress is told and a stop is asked for once a megabyte. A reader that is
// stopped ends its loop and answers as if the source ended there; readSource() makes Cancelled of it. One thread.

#include "core/runs/telemetry/read_sources.h"
#include "core/runs/telemetry/readers/text_lines.h"

#include <cstddef>

namespace trainyard::readers {

class ReadingPace {
public:
    /// Of what outlives it.
    ReadingPace(const SourceText &text, const SourceOptions &options)
        : m_text(text)
        , m_options(options)
    {
    }
    /// Asked in loops, with the byte that is reached.
    [[nodiscard]] bool isStopped(std::size_t byte);

private:
    const SourceText &m_text;
    const SourceOptions &m_options;
    std::size_t m_told = 0;
};

/// The lines of a source.
class PacedLines {
public:
    PacedLines(const SourceText &source, const SourceOptions &options)
        : m_lines(source.text)
        , m_pace(source, options)
    {
    }
    /// The next one that is not empty; false at the end, and where the reading is stopped.
    bool next(TextLine &line) { return m_lines.next(line) && !m_pace.isStopped(line.begin); }

private:
    TextLines m_lines;
    ReadingPace m_pace;
};

} // namespace trainyard::readers
