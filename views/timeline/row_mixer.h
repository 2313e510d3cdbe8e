#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One row of pixels for one row of the timeline: columns blended from all that ran in them (column_walk.h), the tracks
// of a row over one another, and bars that are wide enough to tell apart snapped to whole pixels. Chart and minimap
// show the same mix of the same kinds. Works in device pixels, touches no widget.

#include "views/timeline/column_walk.h"
#include "views/timeline/kind_shares.h"
#include "views/timeline/span_blocks.h"
#include "views/timeline/timeline_state.h"

#include <algorithm>
#include <span>

namespace trainyard {

/// A bar's pixels in its lane, rounded, and its exact ends. Ends outside the lane stay outside, so that a cut bar shows
/// no end there.
struct PixelSpan {
    int left = 0, right = 0;
    double exactLeft = 0, exactRight = 0;
    [[nodiscard]] int width() const { return right - left; }
};
[[nodiscard]] PixelSpan pixelSpan(const Timeline &timeline, std::uint32_t span, TimeInterval range, int width);

/// `share` of the way from one colour to another.
[[nodiscard]] QRgb mixed(QRgb a, QRgb b, double share);

class RowMixer {
public:
    /// Reads theme, filter and turns; call it before the first row of a picture. `fadesAll`: of the critical path,
    /// which is painted over its faded surroundings.
    void prepare(const TimelineState &state, bool fadesAll);
    /// Pixels of a row where `range` fills `width` columns; valid until the next call.
    [[nodiscard]] std::span<const QRgb> mix(
        const TimelineState &state, const TrackRow &row, TimeInterval range, int width);
    /// Tracks taken together, each with the same weight.
    [[nodiscard]] std::span<const QRgb> blend(
        const TimelineState &state, std::span<const std::uint32_t> tracks, TimeInterval range, int width);
    /// More spans in sight than can be told apart: its columns are shared among the kinds. False again for millions of
    /// spans, whose columns are mixed to keep a repaint within a frame.
    [[nodiscard]] bool isDense(const TimelineState &state, const TrackRow &row, TimeInterval range, int width) const;
    /// Shares and colours of such a row, in columns of a few pixels, so that each holds several spans and the shares
    /// are calm; valid until the next call.
    [[nodiscard]] const KindShares &shares(
        const TimelineState &state, const TrackRow &row, TimeInterval range, int width);
    [[nodiscard]] KindShares::Colors colors() const;
    /// The same stage or channel of the baseline, pale; empty pixels where it has none.
    [[nodiscard]] std::span<const QRgb> ghost(const TimelineState &state, const TrackRow &row, int width);

    /// Visible spans of a track, or none where they are too many to tell apart.
    [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> distinctSpans(
        const Timeline &timeline, std::uint32_t track, TimeInterval range, int width) const;
    [[nodiscard]] bool isVivid(const TimelineState &state, std::uint32_t span) const;
    /// What a span is filled with where nothing fades it: the colour of its kind, or on a shared channel of its turn.
    [[nodiscard]] QRgb fillOf(const Timeline &timeline, std::uint32_t span, bool hasTurns) const;
    [[nodiscard]] QRgb fadedOf(const Timeline &timeline, std::uint32_t span) const;
    /// Ink on fillOf().
    [[nodiscard]] QRgb inkOf(const Timeline &timeline, std::uint32_t span, bool hasTurns) const;
    /// Of a mark of the focus.
    [[nodiscard]] QRgb fillOf(const FocusMark &mark) const { return m_focusColors[mark.paint].rgb(); }
    [[nodiscard]] QRgb idle() const { return m_idle; }

private:
    [[nodiscard]] const WorkPalette &paletteOf(const TimelineState &state, const Track &track) const;
    void prepareJobs(const TimelineState &state);
    /// Of its job in m_jobVivid and the like; the last of a span of none.
    [[nodiscard]] std::size_t jobSlot(const Timeline &timeline, std::uint32_t span) const
    {
        return m_jobOfClass[std::min<std::size_t>(timeline.taskClass[span], m_jobOfClass.size() - 1)];
    }
    [[nodiscard]] bool hasJobs() const { return !m_jobOfClass.empty(); }
    void addTracks(const TimelineState &state, std::span<const std::uint32_t> tracks, TimeInterval range, int width);
    void addTurns(const TimelineState &state, std::uint32_t track, TimeInterval range, int width);
    void addMarks(const TimelineState &state, std::span<const std::uint32_t> tracks, TimeInterval range, int width);
    void snapMarks(const TimeFocus &focus, std::uint32_t track, TimeInterval range, int width);
    void snapBars(const TimelineState &state, std::uint32_t track, bool hasTurns, TimeInterval range, int width);

    ColumnWalk m_walk;
    SpanBlocks m_blocks;
    KindShares m_shares;
    WorkPalette m_vivid {}, m_faded {}, m_ghost {};
    // Of a plan with jobs: by class, in the colour of its job. Empty for any other
    std::vector<ColorLanes> m_classVivid, m_classFaded, m_classGhost;
    /// the last: of spans of no job
    std::vector<QRgb> m_jobVivid, m_jobFaded, m_jobInk;
    std::vector<std::uint16_t> m_jobOfClass;
    std::vector<bool> m_isClassVivid;
    bool m_fadesAll = false;
    QRgb m_idle = 0, m_panel = 0;
    /// the row, and what it was before the marks
    std::vector<QRgb> m_row, m_below;
    std::vector<QColor> m_focusColors;
    std::vector<ColorLanes> m_focusLanes;
    /// pipeline class -> its turn in the cell, for the shade
    std::vector<int> m_turnOf;
};

} // namespace trainyard
