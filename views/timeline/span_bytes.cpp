// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/span_bytes.h"

#include <algorithm>
#include <cstdlib>

namespace trainyard {

namespace {

using Curve = std::vector<Evaluation::MemoryStep>;

std::int64_t at(const Curve &curve, Nanoseconds time)
{
    const auto after = std::ranges::upper_bound(curve, time, {}, &Evaluation::MemoryStep::time);
    return after == curve.begin() ? 0 : std::prev(after)->bytes;
}

class StageMoves {
public:
    StageMoves(const Evaluation &evaluation, const Track &track)
        : m_timeline(evaluation.timeline), m_track(track), m_with(evaluation.memoryCurves[std::size_t(track.stage)]),
          m_kept(evaluation.memoryCurvesKept[std::size_t(track.stage)])
    {
        for (const Track &other : m_timeline.tracks)
            if (other.pipelineClass == track.pipelineClass && other.stage == track.stage && (other.stream == Stream::Store || other.stream == Stream::Load))
                m_beside.push_back(&other);
    }

    /// Another micro-batch moves as much at the same place, where this span shares its moment with another.
    [[nodiscard]] std::optional<std::int64_t> bytes(std::uint32_t span) const
    {
        const double moved = m_timeline.moved.empty() ? 1 : m_timeline.moved[span];
        if (const auto known = own(span); known && moved == 1)
            return known;
        const int place = placeOf(span);
        for (std::uint32_t other = m_track.first; other < m_track.last; ++other)
            if (m_timeline.chunk[other] == m_timeline.chunk[span] && placeOf(other) == place)
                if (const auto known = own(other); known && (m_timeline.moved.empty() || m_timeline.moved[other] == 1))
                    return std::int64_t(double(*known) * moved);
        return std::nullopt;
    }

private:
    [[nodiscard]] bool isStore() const { return m_track.stream == Stream::Store; }
    [[nodiscard]] bool isMoot(std::uint32_t span) const { return m_timeline.start[span] == m_timeline.end[span]; }

    /// Which of its micro-batch's moves of the chunk it is, counted from the first that leaves: loads come last one first.
    [[nodiscard]] int placeOf(std::uint32_t span) const
    {
        const auto isSame = [&](std::uint32_t other) {
            return m_timeline.microBatch[other] == m_timeline.microBatch[span] && m_timeline.chunk[other] == m_timeline.chunk[span];
        };
        int place = 0;
        const std::uint32_t first = isStore() ? m_track.first : span + 1, last = isStore() ? span : m_track.last;
        for (std::uint32_t other = first; other < last; ++other)
            place += isSame(other) ? 1 : 0;
        return place;
    }

    /// What is away changes at the end of a store and at the start of a load.
    [[nodiscard]] std::optional<std::int64_t> own(std::uint32_t span) const
    {
        if (isMoot(span))
            return std::nullopt;
        const Nanoseconds moment = isStore() ? m_timeline.end[span] : m_timeline.start[span];
        int changes = 0;
        for (const Track *track : m_beside)
            for (std::uint32_t other = track->first; other < track->last; ++other)
                changes += !isMoot(other) && (track->stream == Stream::Store ? m_timeline.end[other] : m_timeline.start[other]) == moment ? 1 : 0;
        const std::int64_t bytes = std::abs((at(m_kept, moment) - at(m_with, moment)) - (at(m_kept, moment - 1) - at(m_with, moment - 1)));
        return changes == 1 && bytes > 0 ? std::optional(bytes) : std::nullopt;
    }

    const Timeline &m_timeline;
    const Track &m_track;
    const Curve &m_with, &m_kept;
    std::vector<const Track *> m_beside;
};

} // namespace

std::optional<std::int64_t> bytesMoved(const Evaluation &evaluation, std::uint32_t span)
{
    const Timeline &timeline = evaluation.timeline;
    const Track &track = timeline.tracks[timeline.trackOf[span]];
    const bool isMove = timeline.kind[span] == WorkKind::OffloadStore || timeline.kind[span] == WorkKind::OffloadLoad;
    const bool isOnCurve = track.pipelineClass == 0 && std::size_t(track.stage) < std::min(evaluation.memoryCurves.size(), evaluation.memoryCurvesKept.size());
    if (!isMove || !isOnCurve || timeline.microBatch[span] < 0 || timeline.start[span] == timeline.end[span])
        return std::nullopt;
    return StageMoves(evaluation, track).bytes(span);
}

} // namespace trainyard
