#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of the timeline as rectangles and texts, for SVG and PDF: what lane_painter.h paints in pixels, so that a
// chart to take away can be enlarged and edited. Where spans are too many to tell apart, a rectangle per kind and
// column.

#include "views/timeline/measured_painter.h"
#include "views/timeline/row_mixer.h"

#include <QRect>

#include <vector>

class QPainter;

namespace trainyard {

class LaneVectors {
public:
    /// All rows that show in `tracks`, in the painter's logical coordinates.
    void paint(QPainter &painter, const TimelineState &state, const QRect &tracks);

private:
    void paintRow(QPainter &painter, const TimelineState &state, const TrackRow &row, const QRectF &bar);
    void paintMarks(QPainter &painter, const TimelineState &state, std::uint32_t track, const QRectF &bar);
    void paintShares(QPainter &painter, const TimelineState &state, const TrackRow &row, const QRectF &bar);
    void paintSpans(
        QPainter &painter, const TimelineState &state, std::uint32_t track, bool hasTurns, const QRectF &bar);
    /// One line of mixed pixels, neighbours of one colour as one rectangle.
    static void paintRuns(QPainter &painter, std::span<const QRgb> row, const QRectF &bar, QRgb background);

    RowMixer m_mixer;
    MeasuredPainter m_measured;
    /// critical spans by number, for membership
    std::vector<std::uint32_t> m_path;
};

/// Whether a painter draws lines and texts instead of pixels.
[[nodiscard]] bool isVector(const QPainter &painter);

} // namespace trainyard
