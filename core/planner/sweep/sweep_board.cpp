// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/sweep/sweep_board.h"

#include <algorithm>

namespace trainyard {

namespace {

constexpr std::uint64_t kMostRange = 32; // rows
constexpr std::uint64_t kRangesAhead = 16; // of each worker

} // namespace

SweepBoard::SweepBoard(std::uint64_t first, std::uint64_t end, std::size_t workers, Write write)
    : m_written(first)
    , m_dealt(first)
    , m_end(end)
    // Short sweeps are shared out too.
    , m_size(std::clamp<std::uint64_t>((end - first) / (8 * std::max<std::size_t>(workers, 1)), 1, kMostRange))
    , m_window(std::max<std::uint64_t>(workers, 4) * kRangesAhead * m_size)
    , m_write(std::move(write))
{
}

std::optional<SweepRange> SweepBoard::deal(int worker)
{
    SweepRange range;
    if (!m_returned.empty()) {
        range = m_returned.begin()->second;
        m_returned.erase(m_returned.begin());
    } else {
        if (m_dealt == m_end || m_dealt - m_written >= m_window)
            return std::nullopt;
        range = { m_dealt, std::min(m_size, m_end - m_dealt) };
        m_dealt += range.count;
    }
    m_under[range.first] = { range, worker };
    return range;
}

Expected<void> SweepBoard::take(const SweepChunk &chunk)
{
    const std::uint64_t first = chunk.range.first;
    m_under.erase(first);
    m_returned.erase(first);
    if (first < m_written || !m_waiting.emplace(first, chunk).second)
        return {}; // of a worker that was given up too early
    m_counts.feasible += chunk.counts.feasible;
    m_counts.infeasible += chunk.counts.infeasible;
    m_counts.refused += chunk.counts.refused;
    std::string lines;
    while (!m_waiting.empty() && m_waiting.begin()->first == m_written) {
        lines += m_waiting.begin()->second.lines;
        m_written += m_waiting.begin()->second.range.count;
        m_waiting.erase(m_waiting.begin());
    }
    return lines.empty() ? Expected<void>() : m_write(lines);
}

std::uint64_t SweepBoard::lose(int worker)
{
    std::uint64_t rows = 0;
    std::erase_if(m_under, [&](const auto &entry) {
        const auto &[range, who] = entry.second;
        if (who != worker)
            return false;
        m_returned[range.first] = range;
        rows += range.count;
        return true;
    });
    return rows;
}

std::optional<SweepChunk> workedOut(
    SweepRows &rows, const SweepLines &lines, SweepRange range, const std::stop_token &stop)
{
    SweepChunk chunk { range, {}, {} };
    for (std::uint64_t number = range.first; number < range.first + range.count; ++number) {
        const auto row = stop.stop_requested() ? std::nullopt : rows.row(number, stop);
        if (!row)
            return std::nullopt;
        ++(row->state == "feasible"          ? chunk.counts.feasible
                : row->state == "infeasible" ? chunk.counts.infeasible
                                             : chunk.counts.refused);
        lines.append(*row, chunk.lines);
    }
    return chunk;
}

} // namespace trainyard
