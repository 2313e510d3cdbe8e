#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the still part of the chart into an image: labels, ruler, grid and lanes. The canvas keeps that image and
// paints what follows the mouse over it (overlay_painter.h).

#include "views/timeline/lane_painter.h"

namespace trainyard {

class ChartPainter {
public:
    /// Chooses the rows that have room for their label; call it when the layout or the fonts changed.
    void arrangeLabels(const TimelineState &state);
    /// Colours or fonts are others.
    void forgetLabels() { m_isGutterOld = true; }
    void paint(QImage &image, const TimelineState &state, const ChartGeometry &geometry);
    /// The same as rectangles and texts, for SVG and PDF.
    void paintVectors(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry) const;

private:
    void paintGrid(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry) const;
    void paintRuler(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry) const;
    void paintGutter(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry) const;
    void paintGroupNames(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry) const;
    void paintRowLabel(
        QPainter &painter, const TimelineState &state, const ChartGeometry &geometry, const TrackRow &row) const;
    void paintRunLabel(
        QPainter &painter, const TimelineState &state, const ChartGeometry &geometry, const TrackRow &row) const;
    void paintScrollMark(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry) const;

    void refreshGutter(const TimelineState &state, const ChartGeometry &geometry, qreal ratio);

    LanePainter m_lanes;
    /// by row; the second: its measured lane
    std::vector<bool> m_isLabelled, m_isRunLabelled;
    /// of the ramp
    int m_stages = 1;
    /// text is dear: kept until what it says, scroll or size change
    QImage m_gutter;
    bool m_isGutterOld = true;
    /// of the gutter; its rows without their tracks
    TrackLayout m_laid;
    /// of each row in its cell
    std::vector<int> m_turns;
    int m_gutterScroll = -1;
};

/// Width of the labels' column: of the fonts alone, so that the time axis stays where it is whatever plan is shown.
[[nodiscard]] int gutterWidth(int chartWidth);
/// Distance of the ruler's ticks, and where the label of one lies.
[[nodiscard]] Nanoseconds rulerStep(const TimelineState &state, const ChartGeometry &geometry);
[[nodiscard]] QRectF tickLabelRect(
    const TimelineState &state, const ChartGeometry &geometry, Nanoseconds tick, Nanoseconds step);
/// Fonts of the labels.
[[nodiscard]] QFont groupFont();
[[nodiscard]] QFont rowFont();
[[nodiscard]] QFont smallFont();

} // namespace trainyard
