#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Paints what moves over the cached chart: hover and selection outlines, dependency arrows, marks with their
// difference, the pointer's time, the selected area. Costs do not depend on the number of spans. Pure painting, no
// state.

#include "views/timeline/timeline_state.h"

class QPainter;

namespace trainyard {

void paintOverlay(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry);
/// A small filled label on the ruler. `clears`: tick labels that it would cut in half go away whole.
void paintFlagIn(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry, const QRectF &box,
    const QString &text, const QColor &fill, const QColor &ink, bool clears = true);
/// Rectangle that the hover of a span changes, for a small repaint; empty for kNoSpan.
[[nodiscard]] QRect hoverRect(const TimelineState &state, const ChartGeometry &geometry, std::uint32_t span);
/// The same of a measured span.
[[nodiscard]] QRect measuredHoverRect(const TimelineState &state, const ChartGeometry &geometry, std::uint32_t span);
/// Rectangle of the selected area in the chart.
[[nodiscard]] QRectF areaRect(const TimelineState &state, const ChartGeometry &geometry);

} // namespace trainyard
