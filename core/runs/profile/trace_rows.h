#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The streams and threads of a recording as rows of a timeline, without any plan: what is nested in another span, or
// beside it, is on a row below, so that no two spans of a row overlap. What ran in a stretch of time is told exactly
// from sums that are kept for every 64 spans: a picture costs the same of a thousand spans and of ten million, and a
// row a byte for a span. Immutable; any thread.

#include "core/runs/profile/kernel_table.h"

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace trainyard {

/// ns by RecordedWork
using WorkTimes = std::array<std::int64_t, kWorkKinds>;

struct TraceRow {
    /// of Recording::ranks, and of the rank's streams
    std::uint32_t rank = 0, stream = 0;
    /// 0: the row of the stream; 1, 2, …: below it
    int level = 0;
    /// of the stream, in order of start; empty: all of them
    std::vector<std::uint32_t> spans;
    /// before every 64th of them
    std::vector<WorkTimes> sums;
};

class TraceRows {
public:
    /// Spans below so many others are left out.
    static constexpr int kMostLevels = 32;

    /// `shift`: added to the moments of each rank (Run::clockShift); empty: nothing.
    explicit TraceRows(std::shared_ptr<const Recording> recording, std::vector<Moment> shift = {});

    [[nodiscard]] const Recording &recording() const { return *m_recording; }
    /// Streams of each rank as the recording has them, each with the rows below it.
    [[nodiscard]] const std::vector<TraceRow> &rows() const { return m_rows; }
    /// From the first start to the last end; both 0 where there are no spans.
    [[nodiscard]] Moment begin() const { return m_begin; }
    [[nodiscard]] Moment end() const { return m_end; }
    [[nodiscard]] std::int64_t leftOut() const { return m_leftOut; }

    [[nodiscard]] std::size_t sizeOf(std::size_t row) const;
    /// Number in its stream of the i-th span of the row.
    [[nodiscard]] std::uint32_t spanOf(std::size_t row, std::size_t i) const;
    [[nodiscard]] Moment startOf(std::size_t row, std::size_t i) const;
    [[nodiscard]] Moment endOf(std::size_t row, std::size_t i) const;
    [[nodiscard]] RecordedWork workOf(std::size_t row, std::size_t i) const;

    /// First and behind the last of those that run in [from, to). O(log spans).
    [[nodiscard]] std::pair<std::size_t, std::size_t> within(std::size_t row, Moment from, Moment to) const;
    /// That runs then; empty: none does.
    [[nodiscard]] std::optional<std::size_t> at(std::size_t row, Moment moment) const;
    /// What ran in so many equal parts of [from, to), one after the other, exactly. O(log spans) each.
    [[nodiscard]] std::vector<WorkTimes> timesOf(std::size_t row, Moment from, Moment to, int parts) const;

private:
    void addStream(std::uint32_t rank, std::uint32_t stream);
    void addSums(TraceRow &row) const;
    [[nodiscard]] WorkTimes before(std::size_t row, Moment moment) const;
    [[nodiscard]] const RecordedSpans &spansOf(const TraceRow &row) const
    {
        return m_recording->ranks[row.rank].streams[row.stream].spans;
    }
    [[nodiscard]] Moment shiftOf(std::uint32_t rank) const { return rank < m_shift.size() ? m_shift[rank] : 0; }

    std::shared_ptr<const Recording> m_recording;
    std::vector<Moment> m_shift;
    std::vector<TraceRow> m_rows;
    Moment m_begin = 0, m_end = 0;
    std::int64_t m_leftOut = 0;
};

} // namespace trainyard
