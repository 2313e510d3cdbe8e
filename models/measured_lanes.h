#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The measured rows of a run as the chart draws them: a timeline of its own whose tracks have no overlaps, so that its
// painters need no index (column_walk.h), made once when a run is laid under the plan. A measured row has several
// tracks, one in front of the other, since a GPU computes and communicates at once. Immutable behind its pointer.

#include "core/runs/overlay/run_overlay.h"

#include <span>
#include <vector>

namespace trainyard {

struct MeasuredLanes {
    /// what computes; what moves data; all else
    static constexpr int kLayers = 3;

    /// never null
    RunOverlayPtr overlay;
    /// Track row × kLayers + layer. Starts, ends and, as classes, RecordedWork; nothing else. Ends are cut where an
    /// earlier span of the same layer is still running, and what lies inside one is left out.
    Timeline timeline;
    /// span -> its number in its MeasuredRow
    std::vector<std::uint32_t> numberOf;
    /// of each row, inside its step: something computed or moved data
    std::vector<Nanoseconds> busy;
    /// of the run's step
    Nanoseconds end = 0;
    /// that occur, bits by RecordedWork
    std::uint32_t works = 0;

    [[nodiscard]] static std::shared_ptr<const MeasuredLanes> of(const RunOverlayPtr &overlay);

    /// Index of a row of the overlay, or -1. O(log rows).
    [[nodiscard]] int find(const TrackKey &key) const;
    [[nodiscard]] const MeasuredRow &row(int index) const { return overlay->rows[std::size_t(index)]; }
    /// Row that a span of the timeline belongs to.
    [[nodiscard]] int rowOf(std::uint32_t span) const;
    /// Tracks of a row, front first.
    [[nodiscard]] std::span<const Track> tracksOf(int row) const
    {
        return { timeline.tracks.data() + std::size_t(row) * kLayers, kLayers };
    }
    /// Tracks of rows that share a lane, front first: all that computes lies before all that moves data.
    void tracksOf(std::span<const std::uint32_t> rows, std::vector<std::uint32_t> &tracks) const;
    /// Nobody recorded any of the ranks of these rows.
    [[nodiscard]] bool areMissing(std::span<const std::uint32_t> rows) const;
    /// The span of a row's number; kNoSpan where others hide it.
    [[nodiscard]] std::uint32_t spanOf(int row, std::uint32_t number) const;
    [[nodiscard]] RecordedWork workOf(std::uint32_t span) const { return RecordedWork(timeline.taskClass[span]); }

private:
    /// rows, sorted by their key
    std::vector<std::uint32_t> m_byKey;
};
using MeasuredLanesPtr = std::shared_ptr<const MeasuredLanes>;

/// Lanes of the rows under a plan; null without any: rows of a run alone are its streams, which have no place in the
/// plan. As long as it takes to go through all spans: beside the GUI thread, where they may be many.
[[nodiscard]] MeasuredLanesPtr lanesUnderPlan(const RunOverlayPtr &overlay);

/// End of the run's step, nanoseconds since its start; 0: the run does not say.
[[nodiscard]] Nanoseconds endOf(const RunOverlay &overlay);
/// How long the step that is shown takes, as all that compares it with the plan has it: of ranks whose steps lie over
/// each other its period, which is shorter than from its first span to its last.
[[nodiscard]] Nanoseconds stepOf(const RunOverlay &overlay);

} // namespace trainyard
