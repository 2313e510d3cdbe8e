#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the rows of the track area into an image: blended columns first (column_walk.h), then, where bars are wide
// enough to tell apart, their gaps, corners, patterns and labels. Works in device pixels, touches no widget.

#include "views/timeline/column_walk.h"
#include "views/timeline/label_masks.h"
#include "views/timeline/timeline_state.h"

#include <QImage>

namespace trainyard {

/// A second channel beside colour, so that kinds stay apart for every eye and in grey print.
enum class FillPattern : std::uint8_t { Plain, Hatch, BackHatch, Dots, Lines };
[[nodiscard]] FillPattern fillPattern(WorkKind kind);
/// True where the pattern inks that pixel.
[[nodiscard]] bool patternInks(FillPattern pattern, int x, int y);

class LanePainter {
public:
    /// Paints all rows that show in `tracks` (logical pixels of the image's ratio) with the state's range and scroll.
    void paint(QImage &image, const TimelineState &state, const QRect &tracks);

private:
    struct Lane { int left, width, top, bottom; };   // device pixels, bottom exclusive
    void paintRow(QImage &image, const TimelineState &state, const TrackRow &row, const Lane &lane);
    void paintGhost(QImage &image, const TimelineState &state, const TrackRow &row, const Lane &lane);
    /// Visible spans of a track, or none where they are too many to tell apart.
    [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> distinctSpans(const TimelineState &state, std::uint32_t track, int width) const;
    /// What a span is filled with where nothing fades it: the colour of its kind, or on a shared channel of its turn.
    [[nodiscard]] QRgb fillOf(const Timeline &timeline, std::uint32_t span, bool hasTurns) const;
    void blendTurns(const TimelineState &state, std::uint32_t track, int width);
    /// Blends tracks, taken together, over the row buffer.
    void blendTracks(const TimelineState &state, std::span<const std::uint32_t> tracks, int width);
    void snapBars(const TimelineState &state, std::uint32_t track, bool hasTurns, int width);
    void paintDetail(QImage &image, const TimelineState &state, std::uint32_t track, bool hasTurns, const Lane &lane);
    void paintPattern(QImage &image, const QRect &bar, const QRect &clip, WorkKind kind, QRgb fill, QRgb ink);
    /// `room`: exact width of the bar, so that equal bars agree on whether a number fits.
    void paintLabel(QImage &image, const TimelineState &state, std::uint32_t span, const QRect &clip, double room, QRgb fill, QRgb ink);
    void paintBar(QImage &image, const TimelineState &state, std::uint32_t span, const QRect &bar, const Lane &lane);
    void paintCriticalPath(QImage &image, const TimelineState &state, const QRect &tracks);
    void preparePalettes(const TimelineState &state);
    [[nodiscard]] const WorkPalette &paletteOf(const TimelineState &state, const Track &track) const;
    [[nodiscard]] bool isVivid(const TimelineState &state, std::uint32_t span) const;

    ColumnWalk m_walk;
    LabelMasks m_labels;
    WorkPalette m_vivid{}, m_faded{}, m_ghost{};
    QRgb m_idle = 0, m_panel = 0;
    std::vector<QRgb> m_row;
    std::vector<int> m_turnOf;             // pipeline class -> its turn in the cell, for the shade
};

} // namespace trainyard
