#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The one walk that adds up what tasks take of a GPU's memory and give back: over the spans of a finished timeline,
// whatever decided their order, or over changes one after the other before anything has run. Peaks, curves and bytes
// moved all come from it, so they agree. Pure functions.

#include "core/engine/timeline/timeline.h"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

namespace trainyard {

/// Bytes of one GPU in one iteration. What was to leave = written + dropped; written = read + forwarded.
struct OffloadUse {
    double written = 0, read = 0;
    double forwarded =
        0; // written in vain: of tensors that were needed while their store ran, and taken from GPU memory
    /// never written: needed before the store began or, the rest of it, while it ran
    double dropped = 0;
};

struct LiveOverTime {
    /// curves of the bytes on the GPU and, where something leaves, if everything had stayed; empty where nobody asked
    std::vector<MemoryStep> gpu, whole;
    double peak = 0, peakWhole = 0;
    /// bytes outside the GPU at once
    double mostOffloaded = 0;
    /// number of the change that reached the peak: as many changes come before it
    std::size_t fullest = 0;
    /// counted from a timeline, not from an order of work
    bool isFromSpans = false;
    OffloadUse use;

    [[nodiscard]] LiveOverTime withoutCurves() const
    {
        return { {}, {}, peak, peakWhole, mostOffloaded, fullest, isFromSpans, use };
    }
};

/// Of a stage of a class of pipelines. `leaves`: some of what it holds does, or is discarded; else there is no second
/// curve.
[[nodiscard]] LiveOverTime liveOverTime(
    const Timeline &timeline, int pipelineClass, int stage, bool leaves, bool keepsCurves);

/// Sums and peaks of changes as they come.
class MemorySum {
public:
    void start(const MemoryChange &change)
    {
        m_running += change.running;
        add(change.atStart);
    }
    void end(const MemoryChange &change)
    {
        m_running -= change.running;
        add(change.atEnd);
    }
    [[nodiscard]] double gpu() const { return m_now.gpu + m_running; }
    [[nodiscard]] double whole() const { return gpu() + m_now.offloaded + m_now.discarded; }
    void tell(LiveOverTime &result) const
    {
        result.peak = m_peak;
        result.peakWhole = m_peakWhole;
        result.mostOffloaded = m_mostOffloaded;
        result.fullest = m_fullest;
    }

private:
    void add(const PoolBytes &change)
    {
        m_now += change;
        if (gpu() > m_peak) {
            m_peak = gpu();
            m_fullest = m_changes;
        }
        ++m_changes;
        m_peakWhole = std::max(m_peakWhole, whole());
        m_mostOffloaded = std::max(m_mostOffloaded, m_now.offloaded);
    }

    PoolBytes m_now;
    /// of what runs
    double m_running = 0;
    double m_peak = 0, m_peakWhole = 0, m_mostOffloaded = 0;
    std::size_t m_changes = 0, m_fullest = 0;
};

/// The rows of one GPU that change its memory, and which of their spans does next. At one instant what ends comes
/// before what starts, what runs beside the operations before them.
class MemoryRows {
public:
    MemoryRows(const Timeline &timeline, int pipelineClass, int stage);

    [[nodiscard]] std::size_t spans() const
    {
        std::size_t sum = 0;
        for (const Row &row : m_rows)
            sum += row.last - row.span;
        return sum;
    }
    /// The spans of the one row, if there is one.
    [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> only() const
    {
        return m_rows.size() == 1 ? std::pair(m_rows.front().span, m_rows.front().last) : std::pair(0u, 0u);
    }

    /// What a span does to memory: nothing where it was in vain.
    [[nodiscard]] const TaskClass &effectOf(std::uint32_t span) const
    {
        static constexpr TaskClass kNothing {};
        if (m_isVoid && m_isVoid[span] != 0)
            return kNothing;
        const std::uint32_t c = m_taskClass[span];
        return c < m_classes.size() ? m_classes[c] : kNothing;
    }

    /// Calls visit(span, whether it ends) until that returns false.
    template <class Visit> void each(Visit visit)
    {
        constexpr Nanoseconds kDone = std::numeric_limits<Nanoseconds>::max();
        while (!m_rows.empty()) {
            std::size_t next = 0;
            Nanoseconds other = kDone; // when another row has its turn
            for (std::size_t i = 1; i < m_rows.size(); ++i)
                if (m_rows[i].turn < m_rows[next].turn) {
                    other = std::min(other, m_rows[next].turn);
                    next = i;
                } else if (m_rows[i].turn < kDone) {
                    other = std::min(other, m_rows[i].turn + 1); // of equal turns the first row's
                }
            for (Row &row = m_rows[next];;) {
                if (row.turn == kDone || !visit(row.span, row.isRunning))
                    return;
                advance(row);
                if (row.turn >= other)
                    break;
            }
        }
    }

private:
    /// `turn`: twice the time of its next change; one more where that is a start.
    struct Row {
        std::uint32_t span, last;
        bool isRunning;
        Nanoseconds turn;
    };
    void advance(Row &row) const
    {
        row.isRunning = !row.isRunning;
        if (!row.isRunning && ++row.span == row.last)
            row.turn = std::numeric_limits<Nanoseconds>::max();
        else
            row.turn = row.isRunning ? 2 * m_end[row.span] : 2 * m_start[row.span] + 1;
    }

    const Nanoseconds *m_start, *m_end;
    std::span<const TaskClass> m_classes;
    const std::uint32_t *m_taskClass;
    const std::uint8_t *m_isVoid;
    std::vector<Row> m_rows;
};

} // namespace trainyard
