#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Who works on which rows of a sweep, and which rows are written: hands out ranges in order to whoever asks, takes
// their lines in any order, and appends to the file what is next. Ranges stay within a window ahead of the first row
// that is not written, so that lines which wait for a slow row are bounded. What a lost worker had goes to the next who
// asks. Not thread-safe: whoever shares it locks it (threads) or owns it (rank 0 of MPI).

#include "core/planner/sweep/sweep_file.h"

#include <functional>
#include <map>

namespace trainyard {

struct SweepRange {
    std::uint64_t first = 0, count = 0;
    bool operator==(const SweepRange &) const = default;
};

struct SweepCounts {
    std::uint64_t feasible = 0, infeasible = 0, refused = 0;
    [[nodiscard]] std::uint64_t all() const { return feasible + infeasible + refused; }
};

/// Rows that were worked out.
struct SweepChunk {
    SweepRange range;
    SweepCounts counts;
    std::string lines;
};

class SweepBoard {
public:
    using Write = std::function<Expected<void>(std::string_view lines)>;
    /// Rows [first, end), `workers` at once. `write` is given whole lines in the order of rows.
    SweepBoard(std::uint64_t first, std::uint64_t end, std::size_t workers, Write write);

    /// What is next to be worked on; nothing while the window is full, and when all is handed out.
    [[nodiscard]] std::optional<SweepRange> deal(int worker);
    /// Lines of a range that was dealt, by anybody; what is there already is dropped. Errors: of writing.
    [[nodiscard]] Expected<void> take(const SweepChunk &chunk);
    /// A worker is gone: how many rows of its are dealt again.
    std::uint64_t lose(int worker);

    [[nodiscard]] bool isComplete() const { return m_written == m_end; }
    [[nodiscard]] std::uint64_t written() const { return m_written; } // the number of the first row that is not
    /// Of the rows taken so far.
    [[nodiscard]] const SweepCounts &counts() const { return m_counts; }

private:
    std::uint64_t m_written, m_dealt, m_end, m_size, m_window;
    Write m_write;
    /// way: by first row, with the worker
    std::map<std::uint64_t, std::pair<SweepRange, int>> m_under;
    std::map<std::uint64_t, SweepRange> m_returned;
    /// for rows before them
    std::map<std::uint64_t, SweepChunk> m_waiting;
    SweepCounts m_counts;
};

/// Works a range out; nothing where it was stopped.
[[nodiscard]] std::optional<SweepChunk> workedOut(
    SweepRows &rows, const SweepLines &lines, SweepRange range, const std::stop_token &stop);

} // namespace trainyard
