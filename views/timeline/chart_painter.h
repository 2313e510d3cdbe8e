#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the still part of the chart into an image: labels, ruler, grid and lanes. The canvas keeps that image and
// paints what follows the mouse over it (overlay_painter.h).

#include "views/timeline/lane_painter.h"

namespace trainyard {

class ChartPainter {
public:
    void paint(QImage &image, const TimelineState &state, const ChartGeometry &geometry);
    /// Logical pixels that the labels need, measured with the fonts that paint them.
    [[nodiscard]] static int gutterWidth(const TimelineState &state);

private:
    void paintGrid(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry) const;
    void paintRuler(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry) const;
    void paintGutter(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry) const;
    void paintRowLabel(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry, const TrackRow &row) const;
    void paintScrollMark(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry) const;

    LanePainter m_lanes;
};

/// Distance of the ruler's ticks, and where the label of one lies.
[[nodiscard]] Nanoseconds rulerStep(const TimelineState &state, const ChartGeometry &geometry);
[[nodiscard]] QRectF tickLabelRect(const TimelineState &state, const ChartGeometry &geometry, Nanoseconds tick, Nanoseconds step);
/// Fonts of the labels.
[[nodiscard]] QFont groupFont();
[[nodiscard]] QFont rowFont();
[[nodiscard]] QFont smallFont();

} // namespace trainyard
