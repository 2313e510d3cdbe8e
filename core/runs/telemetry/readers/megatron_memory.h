#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What Megatron says of memory: reports of ranks ("[Rank 2] (after 1 iterations) memory (MB) | allocated: …", several
// on a line where processes print at once) and its own theory ("Theoretical memory footprints: …"). MB are MiB.

#include "core/runs/telemetry/readers/series_book.h"
#include "core/runs/telemetry/readers/text_lines.h"

#include <optional>

namespace trainyard::readers {

class MegatronMemory {
public:
    MegatronMemory(SeriesBook &book, RecordedSource &told)
        : m_book(book)
        , m_told(told)
    {
    }
    bool take(const TextLine &line);
    /// Of the last report.
    [[nodiscard]] std::optional<std::int64_t> step() const { return m_step; }

private:
    bool takeReports(const TextLine &line);
    bool takeTheory(const TextLine &line);

    SeriesBook &m_book;
    RecordedSource &m_told;
    std::optional<std::int64_t> m_step;
};

} // namespace trainyard::readers
