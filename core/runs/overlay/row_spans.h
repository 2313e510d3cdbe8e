#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The spans of one step as rows take them: found by the index, clipped to nothing, counted from the start of the step.

#include "core/runs/overlay/rows.h"
#include "core/runs/overlay/span_index.h"

#include <algorithm>

namespace trainyard {

/// Nanoseconds since the start of the step.
struct RowSpan {
    Moment start = 0, end = 0;
    RecordedWork work = RecordedWork::Compute;
    std::uint32_t name = 0;
};

class RowSpans {
public:
    RowSpans(const RowsAsked &asked)
        : m_run(*asked.run)
        , m_recording(*asked.run->recording)
        , m_step(*asked.step)
    {
    }

    [[nodiscard]] Moment shiftOf(std::uint32_t rank) const
    {
        return rank < m_run.clockShift.size() ? m_run.clockShift[rank] : 0;
    }

    template <class Take> void forEach(std::uint32_t index, std::uint32_t stream, const Take &take) const
    {
        const RankRecording &rank = m_recording.ranks[index];
        const RecordedSpans &spans = rank.streams[stream].spans;
        const Moment shift = shiftOf(index), from = m_step.start - shift, to = m_step.end - shift;
        const SpanIndex::Range range = m_run.spans->within(rank, index, stream, from, to);
        const auto &communication = m_run.spans->communication(index, stream);
        auto next = std::ranges::lower_bound(communication, range.first, {}, &CommunicationSpan::span);
        for (std::size_t i = range.first; i < range.last; ++i) {
            while (next != communication.end() && next->span < i)
                ++next;
            if (!isGpuWork(spans.work[i]) || spans.start[i] + spans.duration[i] <= from)
                continue;
            const bool isTold = next != communication.end() && next->span == i;
            take(RowSpan { spans.start[i] - from, spans.start[i] - from + spans.duration[i], spans.work[i],
                     spans.name[i] },
                isTold ? &*next : nullptr);
        }
    }

    /// For all spans that forEach() may give.
    void reserve(std::uint32_t index, std::uint32_t stream, MeasuredRow &row) const
    {
        const Moment shift = shiftOf(index);
        const SpanIndex::Range range =
            m_run.spans->within(m_recording.ranks[index], index, stream, m_step.start - shift, m_step.end - shift);
        row.start.reserve(range.last - range.first);
        row.end.reserve(range.last - range.first);
        row.work.reserve(range.last - range.first);
        row.name.reserve(range.last - range.first);
    }

    static void put(const RowSpan &span, MeasuredRow &row)
    {
        row.start.push_back(span.start);
        row.end.push_back(span.end);
        row.work.push_back(span.work);
        row.name.push_back(span.name);
    }

    [[nodiscard]] const Recording &recording() const { return m_recording; }

private:
    const Run &m_run;
    const Recording &m_recording;
    const RunStep &m_step;
};

/// Spans of several streams, in order of start.
inline void sortRow(std::vector<RowSpan> &found, MeasuredRow &row)
{
    if (!std::ranges::is_sorted(found, {}, &RowSpan::start))
        std::ranges::stable_sort(found, {}, &RowSpan::start);
    row.start.reserve(found.size());
    row.end.reserve(found.size());
    row.work.reserve(found.size());
    row.name.reserve(found.size());
    for (const RowSpan &span : found)
        RowSpans::put(span, row);
}

} // namespace trainyard
