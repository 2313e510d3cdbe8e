#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a recording has to tell as a stream, in the order of its moments: events of one list that end near each other
// share a line, and none of a step is told with those of the next one. The recording has to outlive it.

#include "core/runs/telemetry/recording.h"

#include <vector>

namespace trainyard::live {

/// of one moment in this order
enum class StreamPartKind : std::uint8_t { Spans, Collectives, Samples, Step };

/// Events that share a line: numbers first … last - 1 of `order` of their list.
struct StreamPart {
    Moment at = 0;
    StreamPartKind kind = StreamPartKind::Spans;
    /// rank or series; stream
    std::uint32_t owner = 0, list = 0;
    std::uint32_t order = 0, first = 0, count = 0;
};

class StreamParts {
public:
    /// `most`: events that share a line.
    StreamParts(const Recording &recording, std::size_t most);
    [[nodiscard]] const std::vector<StreamPart> &parts() const { return m_parts; }
    [[nodiscard]] const std::vector<std::uint32_t> &orderOf(const StreamPart &part) const
    {
        return m_orders[part.order];
    }

private:
    void collect();
    template <class End> void cut(StreamPart part, std::vector<std::uint32_t> order, const End &end);
    void collectSpans(std::uint32_t r, std::uint32_t s, const std::vector<bool> &isTold);
    void collectCollectives(std::uint32_t r, std::vector<std::vector<bool>> &isTold);
    void collectSamples();

    const Recording &m_recording;
    std::size_t m_most;
    /// of the rank that is looked at
    std::vector<Moment> m_stepEnds;
    std::vector<StreamPart> m_parts;
    /// events of a list by their ends
    std::vector<std::vector<std::uint32_t>> m_orders;
};

} // namespace trainyard::live
