#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A recording in the order in which it happened: what ended by each moment, as small recordings of their own, which add
// up to the whole. What has no moment (arguments, benchmarks, machines) is in the first. Spans, collectives and steps
// count from their ends, samples by step from the end of their step. One thread; the recording outlives it.

#include "core/runs/telemetry/recording.h"

#include <unordered_map>

namespace trainyard::live {

class RecordingSlices {
public:
    explicit RecordingSlices(const Recording &recording);

    /// The first moment that anything begins at, and the last that anything ends at, since Recording::zero.
    [[nodiscard]] Moment begin() const { return m_begin; }
    [[nodiscard]] Moment end() const { return m_end; }
    [[nodiscard]] bool isOver() const { return m_isBegun && m_next == m_events.size(); }
    [[nodiscard]] bool isBegun() const { return m_isBegun; }
    /// When the next slice begins to be due; end() behind the last.
    [[nodiscard]] Moment due() const { return m_next < m_events.size() ? m_events[m_next].at : m_end; }
    /// All that is due by `until`, at most about `most` events; moments of the recording.
    [[nodiscard]] Recording next(Moment until, std::size_t most);
    void rewind();
    [[nodiscard]] std::size_t done() const { return m_next; }
    [[nodiscard]] std::size_t count() const { return m_events.size(); }

private:
    enum class Kind : std::uint8_t { Span, Collective, Step, Sample };
    struct Event {
        /// end
        Moment at = 0;
        /// rank, or series
        std::uint32_t owner = 0;
        /// of its kind; of spans within their stream
        std::uint32_t index = 0;
        std::uint16_t stream = 0;
        Kind kind = Kind::Span;
    };
    class Filling;

    void addRanks();
    void addSeries();
    [[nodiscard]] Recording facts() const;

    const Recording &m_recording;
    /// by moment
    std::vector<Event> m_events;
    std::size_t m_next = 0;
    Moment m_begin = 0, m_end = 0;
    /// the facts were given
    bool m_isBegun = false;
};

/// The first moment that anything is told of, since its zero; 0 without.
[[nodiscard]] Moment firstMoment(const Recording &recording);
/// When each step ended: as ranks tell, else as step_ended does, else one step's time after the one before.
[[nodiscard]] std::unordered_map<std::int64_t, Moment> stepEnds(const Recording &recording);

} // namespace trainyard::live
